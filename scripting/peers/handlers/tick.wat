;; Looks at five neighbours, keeps away from them, and tells three of what happened. Numbers are multiples
;; of 2^-32, as in our engine: each product and quotient is rounded to the nearest one, a tie to the even
;; one, and what does not fit ends the call.
(module
  (import "host" "nearby" (func $nearby (param i64 i32) (result i32)))
  (import "host" "pos" (func $pos (param i64) (result i64 i64)))
  (import "host" "velocity" (func $velocity (param i64) (result i64 i64)))
  (import "host" "set_velocity" (func $set_velocity (param i64 i64)))
  (import "host" "set_spin" (func $set_spin (param i64)))
  (import "host" "sqrt" (func $sqrt (param i64) (result i64)))
  (import "host" "send" (func $send (param i64 i32 i32 i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "ping")
  (data (i32.const 8) "idle")
  (data (i32.const 16) "moved")

  (func $add (param $a i64) (param $b i64) (result i64) (local $r i64)
    (local.set $r (i64.add (local.get $a) (local.get $b)))
    ;; A sum whose sign is that of neither.
    (if (i64.lt_s (i64.and (i64.xor (local.get $a) (local.get $r))
                           (i64.xor (local.get $b) (local.get $r)))
                  (i64.const 0))
      (then (unreachable)))
    (local.get $r))

  (func $sub (param $a i64) (param $b i64) (result i64) (local $r i64)
    (local.set $r (i64.sub (local.get $a) (local.get $b)))
    (if (i64.lt_s (i64.and (i64.xor (local.get $a) (local.get $b))
                           (i64.xor (local.get $a) (local.get $r)))
                  (i64.const 0))
      (then (unreachable)))
    (local.get $r))

  (func $magnitude (param $a i64) (result i64)
    (select (i64.sub (i64.const 0) (local.get $a)) (local.get $a)
            (i64.lt_s (local.get $a) (i64.const 0))))

  ;; Gives a magnitude the sign of $sign.
  (func $signed (param $r i64) (param $sign i64) (result i64)
    (if (i64.lt_s (local.get $r) (i64.const 0)) (then (unreachable)))
    (select (i64.sub (i64.const 0) (local.get $r)) (local.get $r)
            (i64.lt_s (local.get $sign) (i64.const 0))))

  ;; By halves of 32 bits: the product of two magnitudes has 128.
  (func $mul (param $x i64) (param $y i64) (result i64)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64)
    (local $low i64) (local $rest i64) (local $r i64)
    (local.set $r (call $magnitude (local.get $x)))
    (local.set $a (i64.shr_u (local.get $r) (i64.const 32)))
    (local.set $b (i64.and (local.get $r) (i64.const 0xffffffff)))
    (local.set $r (call $magnitude (local.get $y)))
    (local.set $c (i64.shr_u (local.get $r) (i64.const 32)))
    (local.set $d (i64.and (local.get $r) (i64.const 0xffffffff)))
    (local.set $low (i64.mul (local.get $b) (local.get $d)))
    (local.set $r (i64.mul (local.get $a) (local.get $c)))
    (if (i64.gt_u (local.get $r) (i64.const 0x7fffffff)) (then (unreachable)))
    (local.set $rest
      (i64.add (i64.add (i64.mul (local.get $a) (local.get $d))
                        (i64.mul (local.get $b) (local.get $c)))
               (i64.shr_u (local.get $low) (i64.const 32))))
    (if (i64.lt_s (local.get $rest) (i64.const 0)) (then (unreachable)))
    (local.set $r (i64.add (i64.shl (local.get $r) (i64.const 32)) (local.get $rest)))
    (local.set $low (i64.and (local.get $low) (i64.const 0xffffffff)))
    ;; More than half, or half of an odd one.
    (local.set $r (i64.add (local.get $r) (i64.extend_i32_u
      (i64.gt_u (i64.add (local.get $low) (i64.and (local.get $r) (i64.const 1)))
                (i64.const 0x80000000)))))
    (call $signed (local.get $r) (i64.xor (local.get $x) (local.get $y))))

  ;; The whole part, and then 32 bits more in one step, as by hand with digits of 32 bits.
  (func $div (param $x i64) (param $y i64) (result i64)
    (local $n i64) (local $v i64) (local $shift i64) (local $high i64) (local $low i64)
    (local $whole i64) (local $q i64) (local $rest i64)
    (local.set $n (call $magnitude (local.get $x)))
    (local.set $v (call $magnitude (local.get $y)))
    (local.set $whole (i64.div_u (local.get $n) (local.get $v)))
    (if (i64.gt_u (local.get $whole) (i64.const 0x7fffffff)) (then (unreachable)))
    (local.set $n (i64.rem_u (local.get $n) (local.get $v)))
    (if (i64.lt_u (local.get $v) (i64.const 0x100000000))
      (then
        (local.set $n (i64.shl (local.get $n) (i64.const 32)))
        (local.set $q (i64.div_u (local.get $n) (local.get $v)))
        (local.set $rest (i64.rem_u (local.get $n) (local.get $v))))
      (else
        (local.set $shift (i64.clz (local.get $v)))
        (local.set $n (i64.shl (local.get $n) (local.get $shift)))
        (local.set $v (i64.shl (local.get $v) (local.get $shift)))
        (local.set $high (i64.shr_u (local.get $v) (i64.const 32)))
        (local.set $low (i64.and (local.get $v) (i64.const 0xffffffff)))
        (local.set $q (i64.div_u (local.get $n) (local.get $high)))
        (local.set $rest (i64.rem_u (local.get $n) (local.get $high)))
        ;; The digit is at most two too large.
        (block $done
          (loop $again
            (br_if $done (i32.and
              (i64.lt_u (local.get $q) (i64.const 0x100000000))
              (i64.le_u (i64.mul (local.get $q) (local.get $low))
                        (i64.shl (local.get $rest) (i64.const 32)))))
            (local.set $q (i64.sub (local.get $q) (i64.const 1)))
            (local.set $rest (i64.add (local.get $rest) (local.get $high)))
            (br_if $again (i64.lt_u (local.get $rest) (i64.const 0x100000000)))))
        (local.set $rest (i64.sub (i64.shl (local.get $rest) (i64.const 32))
                                  (i64.mul (local.get $q) (local.get $low))))))
    ;; The rest beside what is left of the divisor: more than half, or half of an odd one.
    (local.set $n (i64.sub (local.get $v) (local.get $rest)))
    (local.set $q (i64.add (local.get $q) (i64.extend_i32_u
      (i32.or (i64.gt_u (local.get $rest) (local.get $n))
              (i32.and (i64.eq (local.get $rest) (local.get $n))
                       (i32.wrap_i64 (i64.and (local.get $q) (i64.const 1))))))))
    (call $signed (i64.add (i64.shl (local.get $whole) (i64.const 32)) (local.get $q))
                  (i64.xor (local.get $x) (local.get $y))))

  (func (export "on_tick") (param $me i64) (param $dt i64)
    (local $ax i64) (local $ay i64) (local $best i64) (local $bd i64) (local $px i64) (local $py i64)
    (local $count i32) (local $at i32) (local $o i64) (local $dx i64) (local $dy i64) (local $d2 i64)
    (local $vx i64) (local $vy i64) (local $k i64)
    (local.set $best (local.get $me))
    (local.set $bd (i64.const 0x6400000000)) ;; 100
    (call $pos (local.get $me))
    (local.set $py)
    (local.set $px)
    (local.set $at (i32.const 64))
    (local.set $count (call $nearby (i64.const 0x800000000) (local.get $at)))
    (block $all
      (loop $next
        (br_if $all (i32.eqz (local.get $count)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (local.set $o (i64.load (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (call $pos (local.get $o))
        (local.set $dy)
        (local.set $dx)
        (local.set $dx (call $sub (local.get $dx) (local.get $px)))
        (local.set $dy (call $sub (local.get $dy) (local.get $py)))
        (local.set $d2 (call $add (call $mul (local.get $dx) (local.get $dx))
                                  (call $mul (local.get $dy) (local.get $dy))))
        (if (i64.lt_s (local.get $d2) (local.get $bd))
          (then
            (local.set $bd (local.get $d2))
            (local.set $best (local.get $o))))
        (if (i32.and (i64.lt_s (local.get $d2) (i64.const 0x1000000000))  ;; 16
                     (i64.gt_s (local.get $d2) (i64.const 0x28f5c29)))    ;; 0.01
          (then
            (local.set $k (call $div (i64.const 0x100000000) (local.get $d2)))
            (local.set $ax (call $sub (local.get $ax) (call $mul (local.get $dx) (local.get $k))))
            (local.set $ay (call $sub (local.get $ay) (call $mul (local.get $dy) (local.get $k))))))
        (br $next)))
    (call $velocity (local.get $me))
    (local.set $vy)
    (local.set $vx)
    (local.set $vx (call $mul (i64.const 0xfae147ae)                      ;; 0.98
      (call $add (local.get $vx) (call $mul (local.get $ax) (local.get $dt)))))
    (local.set $vy (call $mul (i64.const 0xfae147ae)
      (call $add (local.get $vy) (call $mul (local.get $ay) (local.get $dt)))))
    (local.set $d2 (call $add (call $mul (local.get $vx) (local.get $vx))
                              (call $mul (local.get $vy) (local.get $vy))))
    (if (i64.gt_s (local.get $d2) (i64.const 0x1900000000))               ;; 25
      (then
        (local.set $k (call $div (i64.const 0x500000000) (call $sqrt (local.get $d2)))) ;; 5
        (local.set $vx (call $mul (local.get $vx) (local.get $k)))
        (local.set $vy (call $mul (local.get $vy) (local.get $k)))))
    (call $set_velocity (local.get $vx) (local.get $vy))
    (call $set_spin (call $mul (local.get $vx) (i64.const 0x80000000)))   ;; 0.5
    (if (i64.lt_s (local.get $bd) (i64.const 0x900000000))                ;; 9
      (then (call $send (local.get $best) (i32.const 0) (i32.const 4) (i64.const 1)))
      (else (call $send (local.get $me) (i32.const 8) (i32.const 4) (i64.const 0))))
    (call $send (local.get $me) (i32.const 16) (i32.const 5) (i64.const 2))))
