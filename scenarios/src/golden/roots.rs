//! Written by `cargo run -p metatopia-scenarios --example record_golden`.

use metatopia_types::Height;

/// Roots after some heights of the log, its beginning and end among them.
pub const ROOTS: [(Height, &str); 10] = [
    (Height(0), "7e641936aa8459f28b8e9ef13780e59163c734d8b44c6c1e6af609122e082897"),
    (Height(1), "1ef10da525a49efa59ced58ffcd2f53738ced8f6306857ae4837b41728970fbc"),
    (Height(2), "b70e676070df2915d98ee847a2dbdbc3d5052f490601886670f8c0f7110de93d"),
    (Height(10), "394fde21b7f7d05abee5b35a76ed512d389985cbd05b400f45242b110b5f9147"),
    (Height(50), "3ce3dfe44671ee98f23cffb93c65bf06a91fa14dbda77fb83d2904dd63981412"),
    (Height(100), "ff8f193447e0bf2d1ffd8b445be33cc08f5583f84816a4c45ae48eda46cc5394"),
    (Height(200), "5874b853cfecb47a31e86ddb87ebdec142cd22cdf09f3646475d5bc8117cef90"),
    (Height(300), "c23cf9e1da8e3c1773ec1909cd1cd0e840f86b0f95fc84094c49add54ee7e113"),
    (Height(499), "152f1d2c0a193c250d641f7e3002fcfec692ddf5f986c66d64e7b7c4dcb1f4ef"),
    (Height(500), "3c114755ed4837070b7b09abdc0a3ec0913ffa36c4e94e126aa152564778a63f"),
];
