// The other tenant, in its own process: it prepares its data, and then sends requests until it is told to stop. It runs
// at a low priority, because a real attacker's machine is not the service's.

import { lowerProcessPriority } from '#src/platform/priority.ts'
import { openTarget, runAttack, type Tally } from '../../test/support/attack-loop.ts'
import { ATTACKS, type Attack } from '../../test/support/attacks.ts'
import { setting, work } from '../floors/floor.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

export type AttackTask = { act: 'prepare' | 'start'; scenario: ScenarioName } | { act: 'stop' }

const NICE = 10
lowerProcessPriority(NICE)

const NONE: Tally = { sent: 0, outcomes: {}, slowestMs: 0, seconds: 0 }
const target = openTarget(`http://127.0.0.1:${setting('WEB_PORT')}`, {
  key: setting('ATTACKER_KEY'),
  publishableKey: setting('PUBLISHABLE_KEY'),
  liveKey: setting('ATTACKER_LIVE_KEY'),
  waitingIds: JSON.parse(setting('WAITING_IDS')),
})
const prepared = new Map<ScenarioName, Attack>()
let running: { ending: AbortController; ended: Promise<Tally> } | undefined

work<AttackTask>(async (task) => {
  if (task.act === 'stop') {
    running?.ending.abort()
    return running?.ended ?? NONE
  }
  const { act, scenario } = task
  target.endWith(undefined)
  if (act === 'prepare' && scenario !== 'nothing') prepared.set(scenario, await ATTACKS[scenario](target))
  if (act === 'start') running = start(scenario)
  return true
})

function start(scenario: ScenarioName) {
  const ending = new AbortController()
  target.endWith(ending.signal)
  const attack = prepared.get(scenario)
  return {
    ending,
    ended: attack === undefined ? Promise.resolve(NONE) : runAttack(attack, SCENARIOS[scenario], ending.signal),
  }
}
