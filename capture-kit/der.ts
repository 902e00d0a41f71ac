// The part of DER that a key's description needs.

/** Tag, length, content; `tag` is the identifier octet. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

/** A constructed context-specific element: `[number] EXPLICIT`. */
export function tagged(number: number, content: Uint8Array): Buffer {
  if (number < 31) return element(0xa0 | number, content)
  const low = [number & 0x7f]
  for (let rest = number >> 7; rest > 0; rest >>= 7) low.unshift((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([0xbf, ...low]), lengthOf(content.length), content])
}

export function sequence(...contents: readonly Uint8Array[]): Buffer {
  return element(0x30, ...contents)
}

export function set(...contents: readonly Uint8Array[]): Buffer {
  return element(0x31, ...contents)
}

export function integer(value: number): Buffer {
  return element(0x02, magnitude(value))
}

export function enumerated(value: number): Buffer {
  return element(0x0a, magnitude(value))
}

export function octets(value: Uint8Array | string): Buffer {
  return element(0x04, Buffer.from(value))
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]))
}

export function nothing(): Buffer {
  return element(0x05)
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = magnitude(length).filter((byte, index) => index > 0 || byte !== 0)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

// Positive, in as few bytes as possible: the first bit is the sign.
function magnitude(value: number): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes
}
