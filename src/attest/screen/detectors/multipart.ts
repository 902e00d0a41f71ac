import { randomBytes } from 'node:crypto'

/** A form with one file (RFC 7578). The values are our own: names without quotes or line breaks. */
export function buildForm(
  fields: Readonly<Record<string, string>>,
  file: { name: string; contentType: string; bytes: Uint8Array },
): { contentType: string; body: Buffer } {
  const boundary = `countersign-${randomBytes(16).toString('hex')}`
  const parts: Uint8Array[] = []
  const write = (text: string) => parts.push(Buffer.from(text))
  for (const [name, value] of Object.entries(fields)) {
    write(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  }
  // A fixed file name: the original name is not disclosed to the detector.
  write(
    `--${boundary}\r\nContent-Disposition: form-data; name="${file.name}"; filename="media"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  )
  parts.push(file.bytes)
  write(`\r\n--${boundary}--\r\n`)
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(parts) }
}
