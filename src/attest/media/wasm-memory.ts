// Sets an upper limit for the memory of a WebAssembly module. A module built without one may take 4 GB, and a thread's
// resource limits do not count WebAssembly memory.

const HEADER_BYTES = 8
const MEMORY_SECTION = 5

/**
 * The module with at most `maxPages` (64 KiB each) of memory; further allocations fail.
 * @throws {Error} when the module does not define exactly one memory, or has a lower limit.
 */
export function limitMemory(module: Uint8Array, maxPages: number): Uint8Array<ArrayBuffer> {
  let at = HEADER_BYTES
  while (at < module.length) {
    const id = module[at]
    const length = readNumber(module, at + 1)
    const body = length.next
    const next = body + length.value
    if (id === MEMORY_SECTION) {
      const limited = limitSection(module.subarray(body, next), maxPages)
      return joined([
        module.subarray(0, at),
        Uint8Array.of(MEMORY_SECTION, ...numberBytes(limited.length)),
        limited,
        module.subarray(next),
      ])
    }
    at = next
  }
  throw new Error('the module has no memory of its own')
}

// WebAssembly 2.0 5.5.8 and 5.3.7: a vector of limits; flag 0 is a minimum alone, flag 1 a minimum and a maximum.
function limitSection(section: Uint8Array, maxPages: number): Uint8Array {
  const count = readNumber(section, 0)
  const flag = section[count.next]
  if (count.value !== 1 || (flag !== 0 && flag !== 1)) throw new Error('the module has no plain memory')
  const minimum = readNumber(section, count.next + 1)
  const declared = flag === 1 ? readNumber(section, minimum.next).value : Number.POSITIVE_INFINITY
  if (minimum.value > maxPages) throw new Error('the module needs more memory than it may have')
  return Uint8Array.of(1, 1, ...numberBytes(minimum.value), ...numberBytes(Math.min(declared, maxPages)))
}

// LEB128, unsigned: seven bits a byte, the low ones first.
function readNumber(bytes: Uint8Array, from: number): { value: number; next: number } {
  let value = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[from + index] ?? 0
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return { value, next: from + index + 1 }
  }
  throw new Error('the module has a number that is too long')
}

function numberBytes(value: number): number[] {
  const bytes = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return [...bytes, rest]
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
