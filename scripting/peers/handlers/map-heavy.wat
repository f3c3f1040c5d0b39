;; Counts in a map, whose names it writes anew each time, and keeps the map. An entry has 16 bytes: the name
;; in the first eight, with zeros behind it, and the number.
(module
  (import "host" "keep_number" (func $keep_number (param i32 i32 i64)))
  (import "host" "keep_map" (func $keep_map (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "sum")
  (data (i32.const 8) "seen")
  (global $map i32 (i32.const 1024))
  (global $entries (mut i32) (i32.const 0))

  ;; Writes the name of a number below 100 to memory, as eight bytes.
  (func $name (param $i i32) (result i64)
    (i64.store (i32.const 16) (i64.const 0))
    (i32.store8 (i32.const 16) (i32.const 107))
    (if (i32.lt_u (local.get $i) (i32.const 10))
      (then (i32.store8 (i32.const 17) (i32.add (i32.const 48) (local.get $i))))
      (else
        (i32.store8 (i32.const 17)
          (i32.add (i32.const 48) (i32.div_u (local.get $i) (i32.const 10))))
        (i32.store8 (i32.const 18)
          (i32.add (i32.const 48) (i32.rem_u (local.get $i) (i32.const 10))))))
    (i64.load (i32.const 16)))

  ;; Finds the entry of a name, or makes one of zero.
  (func $entry (param $name i64) (result i32) (local $at i32) (local $left i32)
    (local.set $at (global.get $map))
    (local.set $left (global.get $entries))
    (loop $next
      (if (i32.eqz (local.get $left))
        (then
          (global.set $entries (i32.add (global.get $entries) (i32.const 1)))
          (i64.store (local.get $at) (local.get $name))
          (i64.store offset=8 (local.get $at) (i64.const 0))
          (return (local.get $at))))
      (if (i64.eq (i64.load (local.get $at)) (local.get $name))
        (then (return (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br $next))
    (unreachable))

  (func (export "on_tick") (param $me i64) (param $dt i64)
    (local $i i32) (local $at i32) (local $sum i64)
    (global.set $entries (i32.const 0))
    (loop $next
      (local.set $at (call $entry (call $name (i32.rem_u (local.get $i) (i32.const 12)))))
      (i64.store offset=8 (local.get $at)
        (i64.add (i64.load offset=8 (local.get $at)) (i64.extend_i32_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 24))))
    (local.set $at (global.get $map))
    (local.set $i (global.get $entries))
    (loop $more
      (local.set $sum (i64.add (local.get $sum)
        (i64.load offset=8 (call $entry (i64.load (local.get $at))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br_if $more (local.get $i)))
    (call $keep_number (i32.const 0) (i32.const 3) (local.get $sum))
    (call $keep_map (i32.const 8) (i32.const 4) (global.get $map) (global.get $entries))))
