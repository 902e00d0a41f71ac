// I11: an attribution job or diff that was accepted is there once and succeeds; it has one manifest or report, one event
// with its hash and in live one count; and what clients download has that hash.

import type { AttributionFacts } from './attributions.ts'
import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'

export function checkAttributions({ attributions }: Evidence): Finding[] {
  return [...checkAnswered(attributions), ...checkWorks(attributions), ...checkStrays(attributions)].map((what) => ({
    invariant: 'I11',
    what,
  }))
}

function checkAnswered({ answered, works }: AttributionFacts): string[] {
  const known = new Set(works.map(({ id }) => id))
  const wrong = answered.filter(({ id }) => !known.has(id)).map(({ id }) => `lost: ${id} was accepted and is not there`)
  for (const [request, own] of groupBy(answered, (one) => one.request)) {
    const made = new Set(own.map(({ id }) => id))
    if (made.size > 1) wrong.push(`${request} made ${made.size}: ${[...made].join(' ')}`)
  }
  return wrong
}

function checkWorks({ works, events, counted, shown }: AttributionFacts): string[] {
  const told = groupBy(events, ({ id }) => id)
  const counts = groupBy(counted, (id) => id)
  const downloads = groupBy(shown, ({ id }) => id)
  return works.flatMap(({ id, scope, state, hash, results }) => {
    if (state !== 'succeeded' || hash === null) return [`${id} is ${state}, with the hash ${hash}`]
    const wrong: string[] = []
    if (results !== 1) wrong.push(`${id} has ${results} manifests or reports`)
    const own = told.get(id) ?? []
    if (own.length !== 1) wrong.push(`${id} has ${own.length} events`)
    for (const event of own) {
      if (event.status !== 'succeeded' || event.hash !== hash) {
        wrong.push(`the event of ${id} says ${event.status} and ${event.hash}; its row has ${hash}`)
      }
    }
    const expected = scope.endsWith(' live') ? 1 : 0
    const times = counts.get(id)?.length ?? 0
    if (times !== expected) wrong.push(`${id} is counted ${times} times`)
    for (const { sha256 } of downloads.get(id) ?? []) {
      if (sha256 !== hash) wrong.push(`what ${id} shows has the hash ${sha256}, and not ${hash}`)
    }
    return wrong
  })
}

function checkStrays({ answered, works, events, counted, shown }: AttributionFacts): string[] {
  const known = new Set(works.map(({ id }) => id))
  const strays = [...events.map(({ id }) => id), ...counted].filter((id) => !known.has(id))
  const seen = new Set(shown.map(({ id }) => id))
  const unseen = [...new Set(answered.map(({ id }) => id))].filter((id) => known.has(id) && !seen.has(id))
  return [
    ...strays.map((id) => `an event or a count is of no job or diff: ${id}`),
    ...unseen.map((id) => `${id} shows nothing`),
  ]
}
