// I7: data sent to one account and environment names nothing of another.

import type { Finding } from './check.ts'
import { scopeOf } from './check-intake.ts'
import type { Evidence } from './evidence.ts'
import { idsIn } from './journal.ts'

export function checkBorders(evidence: Evidence): Finding[] {
  const owners = ownersOf(evidence)
  const wrong: string[] = []
  const findForeignIds = (ids: readonly string[], scope: string, where: string) => {
    for (const id of ids) {
      const owner = owners.get(id)
      if (owner === undefined || owner === scope || owner === scope.split(' ')[0]) continue
      wrong.push(`${where} of ${scope} names ${id} of ${owner}`)
    }
  }
  const asked = new Map(evidence.asked.map((request) => [request.n, request]))
  for (const { n, ids, status } of evidence.answered) {
    const request = asked.get(n)
    if (request === undefined) continue
    // A caller who asks for another account's id gets not found, which repeats the id that they sent.
    if (request.op === 'foreign') {
      if (status < 400) wrong.push(`${scopeOf(request)} was shown what is another's`)
    } else findForeignIds(ids, scopeOf(request), `answer ${n}`)
  }
  const endpoints = new Map(evidence.endpoints.map((endpoint) => [endpoint.receiver, endpoint]))
  for (const { receiver, body, headers } of evidence.received) {
    const endpoint = endpoints.get(receiver)
    if (endpoint === undefined) continue
    findForeignIds(
      [...idsIn(body), ...idsIn(Object.values(headers).join(' '))],
      scopeOf(endpoint),
      `a delivery to ${receiver}`,
    )
  }
  return wrong.map((what) => ({ invariant: 'I7', what }))
}

/** The owner of each id: an account and environment, or an account alone for its own id. */
function ownersOf(evidence: Evidence): Map<string, string> {
  const { attestations, claims, media, batches, screenings, events, deliveries, others, asked, attributions } = evidence
  const owners = new Map<string, string>()
  const tables = [attestations, claims, media, batches, screenings, events, deliveries, others, attributions.works]
  for (const rows of tables) {
    for (const { id, scope } of rows) owners.set(id, scope)
  }
  for (const { accountId } of asked) owners.set(accountId, accountId)
  return owners
}
