// I8: an attack by another account neither delays nor refuses an honest account.

import type { Finding } from './check.ts'
import type { Evidence } from './evidence.ts'
import type { Injected } from './journal.ts'

// Two cores do everything here, and the insurers' own backlog is processed beside the attack: this says that no caller
// is starved, not that no caller is slower. `npm run bench -- neighbours` measures how much slower.
const LONGEST_MS = 5_000
/** Batches are accepted in turn, few at a time, and the attacker's are among them. */
const LONGEST_OF_BATCH_MS = 20_000
// Failures caused by another fault, and its recovery, are checked elsewhere.
const BEFORE_MS = 1_000
const AFTER_MS = 5_000

export function checkAnswers({ asked, answered, unanswered, faults }: Evidence): Finding[] {
  const requests = new Map(asked.map((request) => [request.n, request]))
  const isAttacked = attackedOnly(faults)
  const wrong: string[] = []
  for (const { n, at, ms, error } of unanswered) {
    if (isAttacked(at - ms, at)) wrong.push(`request ${n} got no answer during an attack: ${error}`)
  }
  for (const { n, at, ms, status, code } of answered) {
    const request = requests.get(n)
    if (request === undefined || !isAttacked(at - ms, at)) continue
    if (status >= 500) wrong.push(`request ${n} (${request.op}) was refused with ${status} ${code} during an attack`)
    const longestMs = (request.op === 'batch' ? LONGEST_OF_BATCH_MS : LONGEST_MS) + (request.wait ?? 0) * 1_000
    if (ms > longestMs) wrong.push(`request ${n} (${request.op}) took ${Math.round(ms)} ms during an attack`)
  }
  return wrong.map((what) => ({ invariant: 'I8', what }))
}

/** Whether an attack went on between two moments, and no other fault. */
export function attackedOnly(faults: readonly Injected[]): (from: number, to: number) => boolean {
  const attacks = faults.filter(({ name }) => name === 'attack')
  const others = faults.filter(({ name }) => name !== 'attack')
  return (from, to) =>
    attacks.some(({ at, until }) => to > at && from < until) &&
    !others.some(({ at, until }) => to > at - BEFORE_MS && from < until + AFTER_MS)
}
