// SHA-256 (FIPS 180-4) without waiting. Web Crypto answers each digest in a turn of its own: a log of a million leaves needs
// three million of them.

const INITIAL = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

// FIPS 180-4 4.2.2: 32 bits of the fractions of the cube roots of the first 64 primes.
const CONSTANTS = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))

function primes(count: number): number[] {
  const found: number[] = []
  for (let candidate = 2; found.length < count; candidate += 1) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate)
  }
  return found
}

function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32)
}

const schedule = new Uint32Array(64)

export function sha256(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = Uint32Array.from(INITIAL)
  const whole = data.length - (data.length % 64)
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at < whole; at += 64) compress(state, view, at)
  // The rest, a one bit, and the length in bits.
  const rest = data.subarray(whole)
  const last = new Uint8Array(rest.length < 56 ? 64 : 128)
  last.set(rest)
  last[rest.length] = 0x80
  const end = new DataView(last.buffer)
  end.setUint32(last.length - 8, Math.floor(data.length / 2 ** 29))
  end.setUint32(last.length - 4, (data.length * 8) >>> 0)
  for (let at = 0; at < last.length; at += 64) compress(state, end, at)
  const digest = new Uint8Array(32)
  const output = new DataView(digest.buffer)
  for (const [index, word] of state.entries()) output.setUint32(index * 4, word)
  return digest
}

function compress(state: Uint32Array, block: DataView, at: number): void {
  const w = schedule
  for (let t = 0; t < 16; t += 1) w[t] = block.getUint32(at + t * 4)
  for (let t = 16; t < 64; t += 1) {
    const a = w[t - 15] as number
    const b = w[t - 2] as number
    const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3)
    const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10)
    w[t] = (w[t - 16] as number) + s0 + (w[t - 7] as number) + s1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let t = 0; t < 64; t += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (w[t] as number)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + word
}
