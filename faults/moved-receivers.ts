// Where the names of receivers can lead all at once: to a private address, or to a server whose certificate has
// expired. As after a change of DNS, the service is not told: the addresses of its endpoints change in Postgres.

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../test/platform/net/certificate.ts'
import type { PostgresServer } from './stores.ts'

export type Elsewhere = 'private' | 'expired'

const EXPIRED_FOR_MS = 60_000
// Nothing may be sent there, so nothing needs to listen.
const PRIVATE = 'http://10.0.0.1:9'

/**
 * @param home The origin of the receivers.
 * @returns a function that moves them back.
 */
export async function moveReceivers(
  { owner }: Pick<PostgresServer, 'owner'>,
  home: string,
  to: Elsewhere,
): Promise<() => Promise<void>> {
  const { key, cert } = await makeCertificate(['127.0.0.1'], new Date(Date.now() - EXPIRED_FOR_MS))
  const server = createServer({ key, cert }, (_, res) => {
    // A call over this certificate would count as delivered, and the checker would miss it at the receiver.
    res.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const expired = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = to === 'private' ? PRIVATE : expired
  const replace = (from: string, by: string) =>
    owner('UPDATE webhook_endpoints SET url = replace(url, $1, $2) WHERE starts_with(url, $1)', [`${from}/`, `${by}/`])
  await replace(home, origin)
  return async () => {
    await replace(origin, home)
    server.closeAllConnections()
    server.close()
  }
}
