// The file of an evidence packet: JSON, or a PDF that has it attached. The last line of the PDF is a seal, a JWS over the SHA-256 of
// all bytes before it, because the packet's own signature covers the attachment and not the visible pages.

const SEAL = '%countersign-seal '
// PDF 32000-1 7.5.5, implementation note 18: readers search for the end of the file in its last 1,024 bytes.
const MAX_SEAL_BYTES = 900
const MAX_PACKET_BYTES = 64 * 1024 * 1024

export function isPdf(file: Uint8Array): boolean {
  return latin1(file.subarray(0, 5)) === '%PDF-'
}

/** The sealed bytes and the seal; undefined without a seal at its position. */
export function splitSeal(file: Uint8Array): { sealed: Uint8Array; jws: string } | undefined {
  const from = Math.max(0, file.length - MAX_SEAL_BYTES)
  const at = latin1(file.subarray(from)).lastIndexOf(SEAL)
  if (at === -1 || file.at(-1) !== 0x0a) return undefined
  const start = from + at
  return { sealed: file.subarray(0, start), jws: latin1(file.subarray(start + SEAL.length, -1)) }
}

/** The first attached file; undefined when none can be read. Reads only PDFs that the service wrote. */
export async function readAttachment(pdf: Uint8Array): Promise<Uint8Array | undefined> {
  const at = indexOf(pdf, '/Type /EmbeddedFile', 0)
  const start = at === -1 ? -1 : indexOf(pdf, 'stream\n', at)
  if (start === -1 || start - at > 2_000) return undefined
  const head = latin1(pdf.subarray(at, start))
  const length = Number(/\/Length (\d{1,9})\b/.exec(head)?.[1])
  const from = start + 'stream\n'.length
  const body = pdf.subarray(from, from + length)
  if (!Number.isSafeInteger(length) || body.length !== length) return undefined
  return head.includes('/FlateDecode') ? inflate(body) : body
}

async function inflate(body: Uint8Array): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    const stream = new Blob([body as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('deflate'))
    const reader = stream.getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      length += value.length
      // What unpacks to more than any packet was not written by the service.
      if (length > MAX_PACKET_BYTES) {
        await reader.cancel()
        return undefined
      }
      parts.push(value)
    }
  } catch {
    return undefined
  }
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

function indexOf(bytes: Uint8Array, text: string, from: number): number {
  const first = text.charCodeAt(0)
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (latin1(bytes.subarray(at, at + text.length)) === text) return at
  }
  return -1
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
