// Injects a planned fault into a running system, removes it, and waits until the system has recovered.

import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../test/support/until.ts'
import type { Attackers } from './attackers.ts'
import { groupBy } from './group.ts'
import type { CalledServer } from './hostility.ts'
import { clock, type Journal } from './journal.ts'
import { moveReceivers } from './moved-receivers.ts'
import { describeFault, type Fault, type Kind } from './plan.ts'
import { type Instance, skewedBy } from './processes.ts'
import type { Relays } from './proxy.ts'
import type { PostgresServer, RedisServer } from './stores.ts'

export type LinkName = 'web' | 'postgres' | 'redis' | 'receivers'

export interface Scene {
  instances: readonly Instance[]
  relays: Relays<LinkName>
  redis: RedisServer | undefined
  postgres: PostgresServer
  receivers: CalledServer
  detector: CalledServer
  attackers: Attackers
  journal: Journal
}

const SLOW_MS = 100
// The bar is 25 s; a slower recovery should be measured, not cut off.
const RECOVERY_MS = 60_000

/**
 * Returns when it is over.
 * @param waits false: returns as soon as the fault is removed, while the system still recovers.
 */
export async function inject(scene: Scene, fault: Fault, turn: number, waits: boolean): Promise<void> {
  const at = clock()
  const figures = await ACTS[fault.name](scene, fault as never, turn)
  scene.journal.write({ kind: 'fault', at, until: clock(), name: fault.name, detail: describeFault(fault), figures })
  if (waits) await untilRecovered(scene, at)
}

type Figures = Record<string, number>
type Act<F> = (scene: Scene, fault: F, turn: number) => Promise<Figures>
type Of<Name extends Fault['name']> = Extract<Fault, { name: Name }>

const ACTS: { [Name in Fault['name']]: Act<Of<Name>> } = {
  async kill(scene, { process }, turn) {
    const { endedInMs } = await choose(scene, process, turn).replace('SIGKILL')
    return { endedInMs }
  },

  async 'slow-start'(scene, { process, ms }, turn) {
    const instance = choose(scene, process, turn)
    await scene.relays.order('postgres', 'stall')
    const killed = instance.pid()
    const replaced = instance.replace('SIGKILL')
    const successors = new Set<number | undefined>()
    const noting = setInterval(() => successors.add(instance.pid()), 100)
    await delay(ms)
    await scene.relays.order('postgres', 'restore')
    await replaced.finally(() => clearInterval(noting))
    for (const none of [killed, undefined]) successors.delete(none)
    // A process that gives up is started again, and its successor gives up too.
    return { starts: successors.size }
  },

  async freeze(scene, { process, ms }, turn) {
    const instance = choose(scene, process, turn)
    const launches = instance.launches()
    const pid = instance.pid()
    instance.signal('SIGSTOP')
    await delay(ms)
    instance.signal('SIGCONT')
    // A process that detects its suspension may exit, and is then started again.
    await delay(500)
    if (instance.pid() !== pid) await instance.untilReady(launches)
    return {}
  },

  async failpoint(scene, { process, point, ms }, turn) {
    const instance = choose(scene, process, turn)
    instance.prepare({ FAILPOINT: point })
    await instance.replace('SIGTERM')
    const launches = instance.launches()
    const pid = instance.pid()
    instance.prepare({})
    // It dies as soon as it gets there; a process that hangs, or never gets there, is killed.
    const isDead = await until(() => instance.pid() !== pid, { timeoutMs: ms }).then(
      () => true,
      () => false,
    )
    if (isDead) await instance.untilReady(launches)
    else await instance.replace('SIGKILL')
    return { reached: isDead ? 1 : 0 }
  },

  // Replaces processes as a rolling deployment does: one of a kind after the other, while the others of that kind
  // serve.
  async rolling({ instances }) {
    const ends: { code: number | null; endedInMs: number }[] = []
    for (const some of groupBy(instances, ({ name }) => name.split('-')[1] ?? '').values()) {
      ends.push(...(await Promise.all(some.map((instance) => instance.replace('SIGTERM')))))
    }
    return {
      slowestMs: Math.max(...ends.map(({ endedInMs }) => endedInMs)),
      refused: ends.filter(({ code }) => code !== 0).length,
      processes: ends.length,
    }
  },

  async skew(scene, { process, minutes, ms }, turn) {
    const instance = choose(scene, process, turn)
    instance.prepare(skewedBy(minutes))
    await instance.replace('SIGTERM')
    await delay(ms)
    instance.prepare({})
    await instance.replace('SIGTERM')
    return {}
  },

  'redis-kill': ({ redis }, { ms }) =>
    lasting(
      ms,
      () => redis?.kill(),
      () => redis?.start(),
    ),

  'redis-freeze': ({ redis }, { ms }) =>
    lasting(
      ms,
      () => redis?.signal('SIGSTOP'),
      () => redis?.signal('SIGCONT'),
    ),

  'redis-full': ({ redis }, { ms }) =>
    lasting(
      ms,
      () => redis?.fill(true),
      () => redis?.fill(false),
    ),

  async 'redis-flush'({ redis }) {
    await redis?.flush()
    return {}
  },

  async 'postgres-restart'({ postgres, relays }) {
    const since = performance.now()
    await postgres.restart()
    await relays.target('postgres', [postgres.port()])
    return { downMs: performance.now() - since }
  },

  'postgres-exhausted': ({ postgres }, { ms }) =>
    lasting(
      ms,
      () => postgres.exhaust(true),
      () => postgres.exhaust(false),
    ),

  async link({ relays }, { link, how, ms }) {
    await relays.order(link, how, SLOW_MS)
    await delay(ms)
    await relays.order(link, 'restore')
    return {}
  },

  receiver: ({ receivers }, { how, ms }) =>
    lasting(
      ms,
      () => receivers.behave(how),
      () => receivers.behave('well'),
    ),

  detector: ({ detector }, { how, ms }) =>
    lasting(
      ms,
      () => detector.behave(how),
      () => detector.behave('well'),
    ),

  async elsewhere({ postgres, relays }, { to, ms }) {
    const moveBack = await moveReceivers(postgres, `http://127.0.0.1:${relays.ports.receivers}`, to)
    await delay(ms)
    await moveBack()
    return {}
  },

  attack: ({ attackers }, { how, ms }) => attackers.attack(how, ms),
}

async function lasting(ms: number, begin: () => unknown, end: () => unknown): Promise<Figures> {
  await begin()
  const since = performance.now()
  await delay(ms)
  await end()
  return { lastedMs: performance.now() - since }
}

function choose({ instances }: Scene, kind: Kind, turn: number): Instance {
  const fitting = instances.filter((instance) => instance.kind === kind)
  const chosen = fitting[turn % fitting.length]
  if (chosen === undefined) throw new Error(`no ${kind} runs`)
  return chosen
}

// Jobs dispatched or running at the fault have been taken up again, or have ended.
async function untilRecovered({ postgres }: Scene, at: number): Promise<void> {
  await until(
    async () => {
      const rows = await postgres
        .owner(
          `SELECT FROM jobs WHERE state = 'dispatched'
             AND coalesce(CASE WHEN lease_until IS NOT NULL THEN started_at END, dispatched_at) < to_timestamp($1 / 1000.0) LIMIT 1`,
          [at],
        )
        .catch(() => [{}])
      return rows.length === 0
    },
    { timeoutMs: RECOVERY_MS, everyMs: 100 },
  ).catch(() => {})
}
