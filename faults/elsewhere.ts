// Where the names of receivers can lead all at once: to a private address, or to a server whose certificate has expired. As
// after a change of DNS, the service is told nothing: the addresses of its endpoints change in Postgres.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../test/platform/net/certificate.ts'
import type { PostgresServer } from './stores.ts'

export type Elsewhere = 'private' | 'expired'

export interface Moving {
  move(to: Elsewhere): Promise<void>
  /** Where they were. */
  moveBack(): Promise<void>
  close(): void
}

const EXPIRED_FOR_MS = 60_000
// Nothing may be sent there, so nothing needs to listen.
const PRIVATE = 'http://10.0.0.1:9'

/** @param home The origin of the receivers. */
export async function startElsewhere({ owner }: Pick<PostgresServer, 'owner'>, home: string): Promise<Moving> {
  const { key, cert } = await makeCertificate(['127.0.0.1'], new Date(Date.now() - EXPIRED_FOR_MS))
  const server = createServer({ key, cert }, (_, res) => {
    // A call over this certificate would count as delivered, and the checker would miss it at the receiver.
    res.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origins = { private: PRIVATE, expired: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const replace = (from: string, to: string) =>
    owner(`UPDATE webhook_endpoints SET url = replace(url, $1, $2) WHERE starts_with(url, $1)`, [from, to])

  return {
    async move(to) {
      await replace(`${home}/`, `${origins[to]}/`)
    },
    async moveBack() {
      for (const origin of Object.values(origins)) await replace(`${origin}/`, `${home}/`)
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
