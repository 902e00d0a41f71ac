// The attributions of the sample that the checker's own tests change.

import { type Environment, newAccountId, newId } from '#src/platform/ids.ts'
import type { AttributionFacts } from './attributions.ts'
import type { ScopeName } from './evidence.ts'
import { sha256Hex } from './tenant.ts'

/**
 * A job that was counted and a diff in the sandbox, whose requests were repeated.
 * @param addJob Answers the id of a queue job that succeeded.
 */
export function addAttributions(
  { works, events, shown, answered, counted }: AttributionFacts,
  addJob: (queue: 'trace' | 'diff', scope: ScopeName) => string,
): void {
  const account = newAccountId('acc')
  const add = (queue: 'trace' | 'diff', environment: Environment): void => {
    const scope = `${account} ${environment}`
    const id = newId(queue === 'trace' ? 'job' : 'dif', environment)
    const hash = sha256Hex(Buffer.from(id))
    works.push({ id, scope, state: 'succeeded', hash, results: 1, jobId: addJob(queue, scope) })
    events.push({ id, status: 'succeeded', hash })
    shown.push({ id, sha256: hash })
    for (let times = 0; times < 2; times += 1) answered.push({ request: queue, id })
    if (environment === 'live') counted.push(id)
  }
  add('trace', 'live')
  add('diff', 'sandbox')
}
