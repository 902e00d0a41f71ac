// Public keys of Ed25519 (RFC 8032) from outside. Node takes any 32 bytes for one. Under a key of small order anyone can make
// a signature that verifies for every message: with OpenSSL 3.0 and many libraries, though no longer with OpenSSL 3.5.

/** p of the field and d of the curve -x^2 + y^2 = 1 + d x^2 y^2. */
const P = 2n ** 255n - 19n
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n
const Y_BITS = 2n ** 255n - 1n

/**
 * Why the 32 bytes are no public key that proves anything; undefined for one that does. Takes about as long as a
 * verification, so it is for keys that are registered.
 */
export function ed25519Problem(key: Uint8Array): string | undefined {
  // RFC 8032 5.1.3: y in little-endian order; the highest bit is the sign of x.
  const y = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) & Y_BITS
  if (y >= P) return 'is not canonical: its y is not below 2^255 - 19'
  const ySquared = (y * y) % P
  if (hasSmallOrder(y, ySquared)) return 'is a point of small order, whose signatures prove nothing'
  // x^2 = u / v. v is never 0, and u v is a square exactly when u / v is (Euler's criterion).
  const u = ySquared - 1n
  const v = (D * ySquared + 1n) % P
  return power(u * v, (P - 1n) / 2n) === 1n ? undefined : 'is not a point of its curve'
}

// The points whose order divides 8. The points of orders 1, 2 and 4 are (0, 1), (0, -1) and the points with y = 0. A
// point of order 8 doubles to one with y = 0, so its x^2 is -y^2, which makes the equation of the curve d y^4 + 2 y^2 -
// 1 = 0.
function hasSmallOrder(y: bigint, ySquared: bigint): boolean {
  if (y === 0n || y === 1n || y === P - 1n) return true
  return (ySquared * (D * ySquared + 2n) - 1n) % P === 0n
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let factor = ((base % P) + P) % P
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % P
    factor = (factor * factor) % P
  }
  return result
}
