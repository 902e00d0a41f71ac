// An insurer's webhook receiver: it verifies each signature over the raw bytes before it reads anything else.

import { createServer } from 'node:http'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'

export interface Receiver {
  url: string
  /** Sets the secret. It is shown when the endpoint is created, which needs the URL first. */
  expectSecret(secret: string): void
  /** Distinct events with a good signature. */
  eventIds: ReadonlySet<string>
  byType: ReadonlyMap<string, number>
  /** The types of the distinct events about one claim, in order of arrival. */
  typesOf(claimId: string): readonly string[]
  /** Deliveries, repeats included. */
  readonly deliveries: number
  /** Reasons of signatures that did not verify. */
  invalid: readonly string[]
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const eventIds = new Set<string>()
  const byType = new Map<string, number>()
  const byClaim = new Map<string, string[]>()
  const invalid: string[] = []
  let secret: string | undefined
  let deliveries = 0

  const note = ({ event_id: id, type, data }: { event_id: string; type: string; data: { claim_id?: string } }) => {
    if (eventIds.has(id)) return
    eventIds.add(id)
    byType.set(type, (byType.get(type) ?? 0) + 1)
    if (data.claim_id !== undefined) byClaim.set(data.claim_id, [...(byClaim.get(data.claim_id) ?? []), type])
  }
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      deliveries += 1
      const rawBody = Buffer.concat(chunks)
      const secrets = secret === undefined ? ['unknown'] : [secret]
      const verdict = verifyWebhookSignature({ rawBody, headers: req.headers }, secrets, Date.now() / 1_000)
      if (verdict.valid) note(JSON.parse(rawBody.toString()))
      else invalid.push(verdict.reason)
      res.writeHead(verdict.valid ? 200 : 400).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    expectSecret: (value) => {
      secret = value
    },
    eventIds,
    byType,
    typesOf: (claimId) => byClaim.get(claimId) ?? [],
    get deliveries() {
      return deliveries
    },
    invalid,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
