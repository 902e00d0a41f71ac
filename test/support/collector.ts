// A collector of traces: receives OTLP over HTTP as the exporters send it, protobuf, and shows what they sent.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface ReceivedSpan {
  service: string
  traceId: string
  spanId: string
  parentId: string | undefined
  name: string
  kind: number
  startNano: bigint
  endNano: bigint
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  isError: boolean
}

export interface Collector {
  url: string
  spans: ReceivedSpan[]
  /** All that was received, to check what must not be in it. */
  raw: Buffer[]
  close(): Promise<void>
}

/** `isHanging`: accepts connections and requests, and never answers. */
export async function startCollector({ isHanging = false } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const raw: Buffer[] = []
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    if (isHanging) return
    const bytes = Buffer.concat(chunks)
    const body = req.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
    raw.push(body)
    spans.push(...decodeRequest(body))
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    raw,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

// opentelemetry/proto/collector/trace/v1 and trace/v1: the numbers are those of the fields.
function decodeRequest(bytes: Buffer): ReceivedSpan[] {
  return all(read(bytes), 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = all(read(resourceSpans), 1)
    const service = String(attributesOf(all(read(resource), 1))['service.name'])
    const scopes = all(read(resourceSpans), 2)
    return scopes.flatMap((scope) => all(read(scope), 2)).map((span) => decodeSpan(span, service))
  })
}

function decodeSpan(bytes: Buffer, service: string): ReceivedSpan {
  const fields = read(bytes)
  const hex = (number: number) => all(fields, number)[0]?.toString('hex') ?? ''
  const [status] = all(fields, 15)
  return {
    service,
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4) || undefined,
    name: String(all(fields, 5)[0]),
    kind: Number(number(fields, 6)),
    startNano: number(fields, 7),
    endNano: number(fields, 8),
    attributes: attributesOf(all(fields, 9)),
    links: all(fields, 13).map((link) => ({
      traceId: all(read(link), 1)[0]?.toString('hex') ?? '',
      spanId: all(read(link), 2)[0]?.toString('hex') ?? '',
    })),
    isError: status !== undefined && number(read(status), 3) === 2n,
  }
}

function attributesOf(pairs: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, value = Buffer.alloc(0)] = [all(read(pair), 1)[0], all(read(pair), 2)[0]]
      const [first] = read(value)
      const plain = first === undefined ? undefined : Buffer.isBuffer(first.value) ? String(first.value) : first.value
      return [String(key), plain]
    }),
  )
}

interface Field {
  number: number
  value: Buffer | bigint
}

function all(fields: Field[], number: number): Buffer[] {
  return fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []))
}

function number(fields: Field[], wanted: number): bigint {
  const found = fields.find((field) => field.number === wanted)?.value
  return typeof found === 'bigint' ? found : 0n
}

// The wire format of protobuf: a tag (field number and type) and a value, repeated.
function read(bytes: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at)
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const kind = tag & 7
    const value =
      kind === 0
        ? varint()
        : kind === 1
          ? take(8).readBigUInt64LE()
          : kind === 5
            ? BigInt(take(4).readUInt32LE())
            : take(Number(varint()))
    fields.push({ number: tag >>> 3, value })
  }
  return fields
}
