// I12: a program that pulls events gets each of them, in order, whatever order it acknowledges them in; and what a caller waited
// for is not shown to a key that was revoked meanwhile.

import type { Finding } from './check.ts'
import type { ConsumerFacts } from './consumers.ts'
import type { Evidence } from './evidence.ts'
import { groupBy } from './group.ts'

export function checkConsumers({ consumers, ledgers }: Evidence): Finding[] {
  const positions = new Map(
    [...groupBy(ledgers.positions, ({ scope }) => scope)].map(([scope, events]) => [
      scope,
      events.flatMap(({ position }) => position ?? []).toSorted((a, b) => a - b),
    ]),
  )
  return [...checkAnswers(consumers, positions), ...checkProgress(consumers, positions), ...checkWaits(consumers)].map(
    (what) => ({ invariant: 'I12', what }),
  )
}

type Positions = ReadonlyMap<string, readonly number[]>

function checkAnswers({ pulled }: ConsumerFacts, positions: Positions): string[] {
  const wrong: string[] = []
  for (const { scope, after, nextAfter, positions: given } of pulled) {
    const due = (positions.get(scope) ?? []).filter((position) => position > after && position <= nextAfter)
    if (given.join() !== due.join())
      wrong.push(
        `the events of ${scope} from ${after} to ${nextAfter} are ${due.length}, and ${given.length} were answered`,
      )
  }
  for (const [reader, answers] of groupBy(pulled, ({ scope, reader }) => `${reader} of ${scope}`)) {
    const back = answers.findIndex(({ after }, index) => after < (answers[index - 1]?.after ?? 0))
    if (back !== -1) wrong.push(`the position of the reader ${reader} went back to ${answers[back]?.after}`)
  }
  return wrong
}

function checkProgress({ pulled, moved, consumers }: ConsumerFacts, positions: Positions): string[] {
  const wrong: string[] = []
  for (const { scope, position: last } of consumers) {
    const given = new Set(pulled.filter((one) => one.scope === scope).flatMap((one) => one.positions))
    const skipped = (positions.get(scope) ?? []).filter((position) => position <= last && !given.has(position))
    if (skipped.length > 0) wrong.push(`${skipped.length} events of ${scope} were skipped, from ${skipped[0]} on`)
  }
  for (const [place, moves] of groupBy(moved, ({ scope, expected }) => `${expected} of ${scope}`))
    if (moves.length > 1) wrong.push(`${moves.length} readers moved the consumer on from ${place}`)
  return wrong
}

function checkWaits({ waited }: ConsumerFacts): string[] {
  return waited
    .filter(({ isGuest, sawEvent }) => isGuest && sawEvent)
    .map(({ scope }) => `a key of ${scope} was shown an event from after its revocation`)
}
