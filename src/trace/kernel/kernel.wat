;; The arithmetic of a forward pass that takes time: products of matrices, weighted sums of rows, and the values of
;; quantised weights. Strict f32x4 alone, since relaxed SIMD gives other bits on other processors.
;;
;; Each result is added up in one order: four partial sums over every fourth column, then (0 + 1) + (2 + 3). It does not
;; depend on the tile that computes it, so a prompt in one piece and token by token give the same bits.
;;
;; Addresses and strides are in bytes. `npm test -- test/trace/kernel` compiles this file and compares it with kernel.wasm.
(module
  (import "env" "memory" (memory 1 65536))

  (func $sum (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  ;; y[t][r] = x[t] . w[r] for n rows of x and m rows of w, each of $width bytes (a multiple of 16, not 0).
  (func (export "multiply_rows")
    (param $x i32) (param $xs i32) (param $n i32)
    (param $w i32) (param $ws i32) (param $m i32)
    (param $width i32) (param $y i32) (param $ys i32)
    (local $t i32) (local $r i32) (local $at i32)
    (local $xp i32) (local $x1 i32) (local $x2 i32) (local $x3 i32)
    (local $wp i32) (local $w1 i32) (local $w2 i32) (local $w3 i32) (local $w4 i32) (local $w5 i32) (local $w6 i32) (local $w7 i32)
    (local $yp i32)
    (local $s00 v128) (local $s01 v128) (local $s10 v128) (local $s11 v128) (local $s20 v128) (local $s21 v128) (local $s30 v128) (local $s31 v128) (local $s02 v128) (local $s03 v128) (local $s04 v128) (local $s05 v128) (local $s06 v128) (local $s07 v128)
    (local $r0 v128) (local $r1 v128) (local $r2 v128) (local $r3 v128) (local $r4 v128) (local $r5 v128) (local $r6 v128) (local $r7 v128) (local $v v128)

    ;; Four rows of x by two of w: each row of w is read once for four of x.
    (local.set $wp (local.get $w))
    (block $paired
      (loop $pair
        (br_if $paired (i32.or
          (i32.lt_u (local.get $n) (i32.const 4))
          (i32.lt_u (i32.sub (local.get $m) (local.get $r)) (i32.const 2))))
        (local.set $w1 (i32.add (local.get $wp) (local.get $ws)))
        (local.set $xp (local.get $x))
        (local.set $yp (i32.add (local.get $y) (i32.shl (local.get $r) (i32.const 2))))
        (local.set $t (i32.const 0))
        (loop $four
          (local.set $x1 (i32.add (local.get $xp) (local.get $xs)))
          (local.set $x2 (i32.add (local.get $x1) (local.get $xs)))
          (local.set $x3 (i32.add (local.get $x2) (local.get $xs)))
          (local.set $s00 (v128.const f32x4 0 0 0 0))
          (local.set $s01 (v128.const f32x4 0 0 0 0))
          (local.set $s10 (v128.const f32x4 0 0 0 0))
          (local.set $s11 (v128.const f32x4 0 0 0 0))
          (local.set $s20 (v128.const f32x4 0 0 0 0))
          (local.set $s21 (v128.const f32x4 0 0 0 0))
          (local.set $s30 (v128.const f32x4 0 0 0 0))
          (local.set $s31 (v128.const f32x4 0 0 0 0))
          (local.set $at (i32.const 0))
          (loop $k42
            (local.set $r0 (v128.load (i32.add (local.get $wp) (local.get $at))))
            (local.set $r1 (v128.load (i32.add (local.get $w1) (local.get $at))))
            (local.set $v (v128.load (i32.add (local.get $xp) (local.get $at))))
            (local.set $s00 (f32x4.add (local.get $s00) (f32x4.mul (local.get $v) (local.get $r0))))
            (local.set $s01 (f32x4.add (local.get $s01) (f32x4.mul (local.get $v) (local.get $r1))))
            (local.set $v (v128.load (i32.add (local.get $x1) (local.get $at))))
            (local.set $s10 (f32x4.add (local.get $s10) (f32x4.mul (local.get $v) (local.get $r0))))
            (local.set $s11 (f32x4.add (local.get $s11) (f32x4.mul (local.get $v) (local.get $r1))))
            (local.set $v (v128.load (i32.add (local.get $x2) (local.get $at))))
            (local.set $s20 (f32x4.add (local.get $s20) (f32x4.mul (local.get $v) (local.get $r0))))
            (local.set $s21 (f32x4.add (local.get $s21) (f32x4.mul (local.get $v) (local.get $r1))))
            (local.set $v (v128.load (i32.add (local.get $x3) (local.get $at))))
            (local.set $s30 (f32x4.add (local.get $s30) (f32x4.mul (local.get $v) (local.get $r0))))
            (local.set $s31 (f32x4.add (local.get $s31) (f32x4.mul (local.get $v) (local.get $r1))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br_if $k42 (i32.lt_u (local.get $at) (local.get $width))))
          (f32.store (local.get $yp) (call $sum (local.get $s00)))
          (f32.store offset=4 (local.get $yp) (call $sum (local.get $s01)))
          (f32.store (i32.add (local.get $yp) (local.get $ys)) (call $sum (local.get $s10)))
          (f32.store offset=4 (i32.add (local.get $yp) (local.get $ys)) (call $sum (local.get $s11)))
          (f32.store (i32.add (local.get $yp) (i32.mul (local.get $ys) (i32.const 2))) (call $sum (local.get $s20)))
          (f32.store offset=4 (i32.add (local.get $yp) (i32.mul (local.get $ys) (i32.const 2))) (call $sum (local.get $s21)))
          (f32.store (i32.add (local.get $yp) (i32.mul (local.get $ys) (i32.const 3))) (call $sum (local.get $s30)))
          (f32.store offset=4 (i32.add (local.get $yp) (i32.mul (local.get $ys) (i32.const 3))) (call $sum (local.get $s31)))
          (local.set $xp (i32.add (local.get $x3) (local.get $xs)))
          (local.set $yp (i32.add (local.get $yp) (i32.shl (local.get $ys) (i32.const 2))))
          (local.set $t (i32.add (local.get $t) (i32.const 4)))
          (br_if $four (i32.le_u (i32.add (local.get $t) (i32.const 4)) (local.get $n))))
        (local.set $wp (i32.add (local.get $w1) (local.get $ws)))
        (local.set $r (i32.add (local.get $r) (i32.const 2)))
        (br $pair)))

    ;; What is left of x (all of it, while one token is decoded) by eight rows of w: eight sums hide the latency of one.
    (local.set $t (i32.and (local.get $n) (i32.const -4)))
    (block $rested
      (loop $rest
        (br_if $rested (i32.ge_u (local.get $t) (local.get $n)))
        (local.set $xp (i32.add (local.get $x) (i32.mul (local.get $t) (local.get $xs))))
        (local.set $yp (i32.add (local.get $y) (i32.mul (local.get $t) (local.get $ys))))
        (local.set $wp (local.get $w))
        (local.set $r (i32.const 0))
        (block $eighted
          (loop $eight
            (br_if $eighted (i32.lt_u (i32.sub (local.get $m) (local.get $r)) (i32.const 8)))
            (local.set $w1 (i32.add (local.get $wp) (local.get $ws)))
            (local.set $w2 (i32.add (local.get $w1) (local.get $ws)))
            (local.set $w3 (i32.add (local.get $w2) (local.get $ws)))
            (local.set $w4 (i32.add (local.get $w3) (local.get $ws)))
            (local.set $w5 (i32.add (local.get $w4) (local.get $ws)))
            (local.set $w6 (i32.add (local.get $w5) (local.get $ws)))
            (local.set $w7 (i32.add (local.get $w6) (local.get $ws)))
            (local.set $s00 (v128.const f32x4 0 0 0 0))
            (local.set $s01 (v128.const f32x4 0 0 0 0))
            (local.set $s02 (v128.const f32x4 0 0 0 0))
            (local.set $s03 (v128.const f32x4 0 0 0 0))
            (local.set $s04 (v128.const f32x4 0 0 0 0))
            (local.set $s05 (v128.const f32x4 0 0 0 0))
            (local.set $s06 (v128.const f32x4 0 0 0 0))
            (local.set $s07 (v128.const f32x4 0 0 0 0))
            (local.set $at (i32.const 0))
            (loop $k18
              (local.set $r0 (v128.load (i32.add (local.get $wp) (local.get $at))))
              (local.set $r1 (v128.load (i32.add (local.get $w1) (local.get $at))))
              (local.set $r2 (v128.load (i32.add (local.get $w2) (local.get $at))))
              (local.set $r3 (v128.load (i32.add (local.get $w3) (local.get $at))))
              (local.set $r4 (v128.load (i32.add (local.get $w4) (local.get $at))))
              (local.set $r5 (v128.load (i32.add (local.get $w5) (local.get $at))))
              (local.set $r6 (v128.load (i32.add (local.get $w6) (local.get $at))))
              (local.set $r7 (v128.load (i32.add (local.get $w7) (local.get $at))))
              (local.set $v (v128.load (i32.add (local.get $xp) (local.get $at))))
              (local.set $s00 (f32x4.add (local.get $s00) (f32x4.mul (local.get $v) (local.get $r0))))
              (local.set $s01 (f32x4.add (local.get $s01) (f32x4.mul (local.get $v) (local.get $r1))))
              (local.set $s02 (f32x4.add (local.get $s02) (f32x4.mul (local.get $v) (local.get $r2))))
              (local.set $s03 (f32x4.add (local.get $s03) (f32x4.mul (local.get $v) (local.get $r3))))
              (local.set $s04 (f32x4.add (local.get $s04) (f32x4.mul (local.get $v) (local.get $r4))))
              (local.set $s05 (f32x4.add (local.get $s05) (f32x4.mul (local.get $v) (local.get $r5))))
              (local.set $s06 (f32x4.add (local.get $s06) (f32x4.mul (local.get $v) (local.get $r6))))
              (local.set $s07 (f32x4.add (local.get $s07) (f32x4.mul (local.get $v) (local.get $r7))))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br_if $k18 (i32.lt_u (local.get $at) (local.get $width))))
            (f32.store (local.get $yp) (call $sum (local.get $s00)))
            (f32.store offset=4 (local.get $yp) (call $sum (local.get $s01)))
            (f32.store offset=8 (local.get $yp) (call $sum (local.get $s02)))
            (f32.store offset=12 (local.get $yp) (call $sum (local.get $s03)))
            (f32.store offset=16 (local.get $yp) (call $sum (local.get $s04)))
            (f32.store offset=20 (local.get $yp) (call $sum (local.get $s05)))
            (f32.store offset=24 (local.get $yp) (call $sum (local.get $s06)))
            (f32.store offset=28 (local.get $yp) (call $sum (local.get $s07)))
            (local.set $wp (i32.add (local.get $w7) (local.get $ws)))
            (local.set $yp (i32.add (local.get $yp) (i32.const 32)))
            (local.set $r (i32.add (local.get $r) (i32.const 8)))
            (br $eight)))
        (call $multiply_singly
          (local.get $xp) (local.get $xs) (i32.const 1)
          (local.get $wp) (local.get $ws) (i32.sub (local.get $m) (local.get $r))
          (local.get $width) (local.get $yp) (local.get $ys))
        (local.set $t (i32.add (local.get $t) (i32.const 1)))
        (br $rest)))

    ;; The last row of w, where their number is odd, for the rows of x that were taken four at a time.
    (if (i32.and (i32.ge_u (local.get $n) (i32.const 4)) (i32.and (local.get $m) (i32.const 1)))
      (then
        (local.set $r (i32.sub (local.get $m) (i32.const 1)))
        (call $multiply_singly
          (local.get $x) (local.get $xs) (i32.and (local.get $n) (i32.const -4))
          (i32.add (local.get $w) (i32.mul (local.get $r) (local.get $ws))) (local.get $ws) (i32.const 1)
          (local.get $width) (i32.add (local.get $y) (i32.shl (local.get $r) (i32.const 2))) (local.get $ys)))))

  (func $multiply_singly
    (param $x i32) (param $xs i32) (param $n i32)
    (param $w i32) (param $ws i32) (param $m i32)
    (param $width i32) (param $y i32) (param $ys i32)
    (local $t i32) (local $r i32) (local $at i32) (local $xp i32) (local $wp i32) (local $s v128)
    (block $done
      (br_if $done (i32.eqz (local.get $m)))
      (loop $token
        (br_if $done (i32.ge_u (local.get $t) (local.get $n)))
        (local.set $xp (i32.add (local.get $x) (i32.mul (local.get $t) (local.get $xs))))
        (local.set $r (i32.const 0))
        (loop $row
          (local.set $wp (i32.add (local.get $w) (i32.mul (local.get $r) (local.get $ws))))
          (local.set $s (v128.const f32x4 0 0 0 0))
          (local.set $at (i32.const 0))
          (loop $column
            (local.set $s (f32x4.add (local.get $s) (f32x4.mul
              (v128.load (i32.add (local.get $xp) (local.get $at)))
              (v128.load (i32.add (local.get $wp) (local.get $at))))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br_if $column (i32.lt_u (local.get $at) (local.get $width))))
          (f32.store
            (i32.add
              (i32.add (local.get $y) (i32.mul (local.get $t) (local.get $ys)))
              (i32.shl (local.get $r) (i32.const 2)))
            (call $sum (local.get $s)))
          (local.set $r (i32.add (local.get $r) (i32.const 1)))
          (br_if $row (i32.lt_u (local.get $r) (local.get $m))))
        (local.set $t (i32.add (local.get $t) (i32.const 1)))
        (br $token))))

  ;; y = p[0] * v[0] + p[1] * v[1] + ... for m rows of v (m is not 0), each of $width bytes (a multiple of 16).
  (func (export "mix_rows")
    (param $p i32) (param $m i32) (param $v i32) (param $vs i32) (param $width i32) (param $y i32)
    (local $column i32) (local $row i32) (local $at i32) (local $f v128)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (block $wide
      (loop $sixteen
        (br_if $wide (i32.lt_u (i32.sub (local.get $width) (local.get $column)) (i32.const 64)))
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $s1 (v128.const f32x4 0 0 0 0))
        (local.set $s2 (v128.const f32x4 0 0 0 0))
        (local.set $s3 (v128.const f32x4 0 0 0 0))
        (local.set $row (i32.const 0))
        (local.set $at (i32.add (local.get $v) (local.get $column)))
        (loop $rows
          (local.set $f (v128.load32_splat (i32.add (local.get $p) (i32.shl (local.get $row) (i32.const 2)))))
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $f) (v128.load (local.get $at)))))
          (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $f) (v128.load offset=16 (local.get $at)))))
          (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $f) (v128.load offset=32 (local.get $at)))))
          (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $f) (v128.load offset=48 (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (local.get $vs)))
          (local.set $row (i32.add (local.get $row) (i32.const 1)))
          (br_if $rows (i32.lt_u (local.get $row) (local.get $m))))
        (v128.store (i32.add (local.get $y) (local.get $column)) (local.get $s0))
        (v128.store offset=16 (i32.add (local.get $y) (local.get $column)) (local.get $s1))
        (v128.store offset=32 (i32.add (local.get $y) (local.get $column)) (local.get $s2))
        (v128.store offset=48 (i32.add (local.get $y) (local.get $column)) (local.get $s3))
        (local.set $column (i32.add (local.get $column) (i32.const 64)))
        (br $sixteen)))
    (block $done
      (loop $four
        (br_if $done (i32.ge_u (local.get $column) (local.get $width)))
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $row (i32.const 0))
        (local.set $at (i32.add (local.get $v) (local.get $column)))
        (loop $rows
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul
            (v128.load32_splat (i32.add (local.get $p) (i32.shl (local.get $row) (i32.const 2))))
            (v128.load (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (local.get $vs)))
          (local.set $row (i32.add (local.get $row) (i32.const 1)))
          (br_if $rows (i32.lt_u (local.get $row) (local.get $m))))
        (v128.store (i32.add (local.get $y) (local.get $column)) (local.get $s0))
        (local.set $column (i32.add (local.get $column) (i32.const 16)))
        (br $four))))

  ;; A half float. Moving its bits to those of a float makes the exponent 112 too small; the product corrects it, also for
  ;; subnormal numbers. Infinities and what is no number get their exponent back.
  (func $half (param $address i32) (result f32)
    (local $h i32) (local $magnitude i32)
    (local.set $h (i32.load16_u (local.get $address)))
    (local.set $magnitude (i32.reinterpret_f32 (f32.mul
      (f32.reinterpret_i32 (i32.shl (i32.and (local.get $h) (i32.const 0x7fff)) (i32.const 13)))
      (f32.const 0x1p112))))
    (if (i32.eq (i32.and (local.get $h) (i32.const 0x7c00)) (i32.const 0x7c00))
      (then (local.set $magnitude (i32.or (local.get $magnitude) (i32.const 0x7f800000)))))
    (f32.reinterpret_i32 (i32.or
      (local.get $magnitude)
      (i32.shl (i32.and (local.get $h) (i32.const 0x8000)) (i32.const 16)))))

  ;; The values of $count half floats, a multiple of 4.
  (func (export "decode_f16") (param $from i32) (param $to i32) (param $count i32)
    (local $h v128) (local $magnitude v128)
    (loop $four
      (local.set $h (v128.load16x4_u (local.get $from)))
      (local.set $magnitude (f32x4.mul
        (i32x4.shl (v128.and (local.get $h) (v128.const i32x4 0x7fff 0x7fff 0x7fff 0x7fff)) (i32.const 13))
        (f32x4.splat (f32.const 0x1p112))))
      (local.set $magnitude (v128.or (local.get $magnitude) (v128.and
        (i32x4.eq
          (v128.and (local.get $h) (v128.const i32x4 0x7c00 0x7c00 0x7c00 0x7c00))
          (v128.const i32x4 0x7c00 0x7c00 0x7c00 0x7c00))
        (v128.const i32x4 0x7f800000 0x7f800000 0x7f800000 0x7f800000))))
      (v128.store (local.get $to) (v128.or
        (local.get $magnitude)
        (i32x4.shl (v128.and (local.get $h) (v128.const i32x4 0x8000 0x8000 0x8000 0x8000)) (i32.const 16))))
      (local.set $from (i32.add (local.get $from) (i32.const 8)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (local.set $count (i32.sub (local.get $count) (i32.const 4)))
      (br_if $four (local.get $count))))

  ;; Sixteen signed bytes q as 16 floats: scale * q + min.
  (func $spread (param $q v128) (param $scale v128) (param $min v128) (param $to i32)
    (local $low v128) (local $high v128)
    (local.set $low (i16x8.extend_low_i8x16_s (local.get $q)))
    (local.set $high (i16x8.extend_high_i8x16_s (local.get $q)))
    (v128.store (local.get $to) (f32x4.add (local.get $min) (f32x4.mul (local.get $scale)
      (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $low))))))
    (v128.store offset=16 (local.get $to) (f32x4.add (local.get $min) (f32x4.mul (local.get $scale)
      (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $low))))))
    (v128.store offset=32 (local.get $to) (f32x4.add (local.get $min) (f32x4.mul (local.get $scale)
      (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $high))))))
    (v128.store offset=48 (local.get $to) (f32x4.add (local.get $min) (f32x4.mul (local.get $scale)
      (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $high)))))))

  ;; The values of $blocks blocks of 32: a scale, then 32 signed bytes.
  (func (export "decode_q8_0") (param $from i32) (param $to i32) (param $blocks i32)
    (local $scale v128) (local $zero v128)
    (loop $block
      (local.set $scale (f32x4.splat (call $half (local.get $from))))
      (call $spread (v128.load offset=2 (local.get $from)) (local.get $scale) (local.get $zero) (local.get $to))
      (call $spread (v128.load offset=18 (local.get $from)) (local.get $scale) (local.get $zero)
        (i32.add (local.get $to) (i32.const 64)))
      (local.set $from (i32.add (local.get $from) (i32.const 34)))
      (local.set $to (i32.add (local.get $to) (i32.const 128)))
      (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
      (br_if $block (local.get $blocks))))

  ;; A scale, then 32 elements of 4 bits, less 8: the lower halves of 16 bytes, then the upper ones.
  (func (export "decode_q4_0") (param $from i32) (param $to i32) (param $blocks i32)
    (local $scale v128) (local $zero v128) (local $q v128)
    (loop $block
      (local.set $scale (f32x4.splat (call $half (local.get $from))))
      (local.set $q (v128.load offset=2 (local.get $from)))
      (call $spread
        (i8x16.sub (v128.and (local.get $q) (i8x16.splat (i32.const 15))) (i8x16.splat (i32.const 8)))
        (local.get $scale) (local.get $zero) (local.get $to))
      (call $spread
        (i8x16.sub (i8x16.shr_u (local.get $q) (i32.const 4)) (i8x16.splat (i32.const 8)))
        (local.get $scale) (local.get $zero) (i32.add (local.get $to) (i32.const 64)))
      (local.set $from (i32.add (local.get $from) (i32.const 18)))
      (local.set $to (i32.add (local.get $to) (i32.const 128)))
      (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
      (br_if $block (local.get $blocks))))

  ;; A scale and a minimum, then 32 elements of 4 bits.
  (func (export "decode_q4_1") (param $from i32) (param $to i32) (param $blocks i32)
    (local $scale v128) (local $min v128) (local $q v128)
    (loop $block
      (local.set $scale (f32x4.splat (call $half (local.get $from))))
      (local.set $min (f32x4.splat (call $half (i32.add (local.get $from) (i32.const 2)))))
      (local.set $q (v128.load offset=4 (local.get $from)))
      (call $spread (v128.and (local.get $q) (i8x16.splat (i32.const 15)))
        (local.get $scale) (local.get $min) (local.get $to))
      (call $spread (i8x16.shr_u (local.get $q) (i32.const 4))
        (local.get $scale) (local.get $min) (i32.add (local.get $to) (i32.const 64)))
      (local.set $from (i32.add (local.get $from) (i32.const 20)))
      (local.set $to (i32.add (local.get $to) (i32.const 128)))
      (local.set $blocks (i32.sub (local.get $blocks) (i32.const 1)))
      (br_if $block (local.get $blocks))))

  ;; The products below are those of one token with quantised rows, two at a time. Each weight has the bits that its decoder
  ;; writes and each sum the order of multiply_rows, so a result does not depend on which of them computed it.

  ;; Adds x . (scale * q + min) of four columns, four at a time, for the sixteen signed bytes q of a row.
  (func $add_products (param $s v128) (param $x i32) (param $q v128) (param $scale v128) (param $min v128) (result v128)
    (local $low v128) (local $high v128)
    (local.set $low (i16x8.extend_low_i8x16_s (local.get $q)))
    (local.set $high (i16x8.extend_high_i8x16_s (local.get $q)))
    (local.set $s (f32x4.add (local.get $s) (f32x4.mul (v128.load (local.get $x)) (f32x4.add (local.get $min)
      (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $low))))))))
    (local.set $s (f32x4.add (local.get $s) (f32x4.mul (v128.load offset=16 (local.get $x)) (f32x4.add (local.get $min)
      (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $low))))))))
    (local.set $s (f32x4.add (local.get $s) (f32x4.mul (v128.load offset=32 (local.get $x)) (f32x4.add (local.get $min)
      (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $high))))))))
    (f32x4.add (local.get $s) (f32x4.mul (v128.load offset=48 (local.get $x)) (f32x4.add (local.get $min)
      (f32x4.mul (local.get $scale) (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $high))))))))

  ;; y[r] = x . w[r] for $rows rows of w, an even number, each of $blocks blocks as decode_q8_0 reads them.
  (func (export "multiply_q8_0") (param $x i32) (param $w i32) (param $rows i32) (param $blocks i32) (param $y i32)
    (local $stride i32) (local $end i32) (local $at i32) (local $s0 v128) (local $s1 v128) (local $d0 v128) (local $d1 v128) (local $zero v128)
    (local.set $stride (i32.mul (local.get $blocks) (i32.const 34)))
    (loop $pair
      (local.set $end (i32.add (local.get $w) (local.get $stride)))
      (local.set $at (local.get $x))
      (local.set $s0 (v128.const f32x4 0 0 0 0))
      (local.set $s1 (v128.const f32x4 0 0 0 0))
      (loop $block
        (local.set $d0 (f32x4.splat (call $half (local.get $w))))
        (local.set $d1 (f32x4.splat (call $half (i32.add (local.get $w) (local.get $stride)))))
        (local.set $s0 (call $add_products (local.get $s0) (local.get $at)
          (v128.load offset=2 (local.get $w)) (local.get $d0) (local.get $zero)))
        (local.set $s1 (call $add_products (local.get $s1) (local.get $at)
          (v128.load offset=2 (i32.add (local.get $w) (local.get $stride))) (local.get $d1) (local.get $zero)))
        (local.set $s0 (call $add_products (local.get $s0) (i32.add (local.get $at) (i32.const 64))
          (v128.load offset=18 (local.get $w)) (local.get $d0) (local.get $zero)))
        (local.set $s1 (call $add_products (local.get $s1) (i32.add (local.get $at) (i32.const 64))
          (v128.load offset=18 (i32.add (local.get $w) (local.get $stride))) (local.get $d1) (local.get $zero)))
        (local.set $at (i32.add (local.get $at) (i32.const 128)))
        (local.set $w (i32.add (local.get $w) (i32.const 34)))
        (br_if $block (i32.lt_u (local.get $w) (local.get $end))))
      (f32.store (local.get $y) (call $sum (local.get $s0)))
      (f32.store offset=4 (local.get $y) (call $sum (local.get $s1)))
      (local.set $w (i32.add (local.get $w) (local.get $stride)))
      (local.set $y (i32.add (local.get $y) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 2)))
      (br_if $pair (local.get $rows))))

  ;; As multiply_q8_0, of blocks as decode_q4_1 reads them.
  (func (export "multiply_q4_1") (param $x i32) (param $w i32) (param $rows i32) (param $blocks i32) (param $y i32)
    (local $stride i32) (local $end i32) (local $at i32) (local $other i32) (local $s0 v128) (local $s1 v128)
    (local $d0 v128) (local $d1 v128) (local $m0 v128) (local $m1 v128) (local $q0 v128) (local $q1 v128)
    (local.set $stride (i32.mul (local.get $blocks) (i32.const 20)))
    (loop $pair
      (local.set $end (i32.add (local.get $w) (local.get $stride)))
      (local.set $at (local.get $x))
      (local.set $s0 (v128.const f32x4 0 0 0 0))
      (local.set $s1 (v128.const f32x4 0 0 0 0))
      (loop $block
        (local.set $other (i32.add (local.get $w) (local.get $stride)))
        (local.set $d0 (f32x4.splat (call $half (local.get $w))))
        (local.set $m0 (f32x4.splat (call $half (i32.add (local.get $w) (i32.const 2)))))
        (local.set $d1 (f32x4.splat (call $half (local.get $other))))
        (local.set $m1 (f32x4.splat (call $half (i32.add (local.get $other) (i32.const 2)))))
        (local.set $q0 (v128.load offset=4 (local.get $w)))
        (local.set $q1 (v128.load offset=4 (local.get $other)))
        (local.set $s0 (call $add_products (local.get $s0) (local.get $at)
          (v128.and (local.get $q0) (i8x16.splat (i32.const 15))) (local.get $d0) (local.get $m0)))
        (local.set $s1 (call $add_products (local.get $s1) (local.get $at)
          (v128.and (local.get $q1) (i8x16.splat (i32.const 15))) (local.get $d1) (local.get $m1)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (local.set $s0 (call $add_products (local.get $s0) (local.get $at)
          (i8x16.shr_u (local.get $q0) (i32.const 4)) (local.get $d0) (local.get $m0)))
        (local.set $s1 (call $add_products (local.get $s1) (local.get $at)
          (i8x16.shr_u (local.get $q1) (i32.const 4)) (local.get $d1) (local.get $m1)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (local.set $w (i32.add (local.get $w) (i32.const 20)))
        (br_if $block (i32.lt_u (local.get $w) (local.get $end))))
      (f32.store (local.get $y) (call $sum (local.get $s0)))
      (f32.store offset=4 (local.get $y) (call $sum (local.get $s1)))
      (local.set $w (i32.add (local.get $w) (local.get $stride)))
      (local.set $y (i32.add (local.get $y) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 2)))
      (br_if $pair (local.get $rows)))))
