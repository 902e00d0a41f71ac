// Plays one scenario of clients/guard-scenarios.json with the library for TypeScript, in a process of its own that may be killed:
// `node player.ts TASK`, as JSON. It prints what became of each call of guard.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fetch } from '#client/core/options.ts'
import { Countersign } from '#client/countersign.ts'
import { ActionFailed, fileJournal, guard, type Journal, NotAllowed, NotExecuted } from '#client/guard.ts'
import type { Task } from './scenarios.ts'

const { folder, scenario, baseUrl, apiKey, options, journalPath } = JSON.parse(process.argv[2] ?? '') as Task
const { stop, fails, calls = 1, key, run = 'succeeds', unreachable } = scenario
let hasLost = scenario.lost !== true
const controller = new AbortController()

function reach(point: string): void {
  if (stop?.at !== point) return
  if (stop.by === 'kill') process.kill(process.pid, 'SIGKILL')
  controller.abort(new Error('aborted'))
}

const fetchReaching: Fetch = async (input, init) => {
  const [, operation] = /\/(authorize|verify|outcome|approvals)\b/.exec(input) ?? []
  if (operation === 'outcome' && unreachable) throw new TypeError('unreachable')
  reach(`${operation}:sent`)
  const response = await fetch(input, init)
  reach(`${operation}:answered`)
  if (operation === 'verify' && !hasLost) {
    hasLost = true
    throw new TypeError('connection reset')
  }
  return response
}

function journalReaching(path: string): Journal {
  const journal = fileJournal(path)
  return {
    read: journal.read,
    async append(entry) {
      reach(`${entry.step}:noting`)
      if (entry.step === fails) throw new Error('no space left on the device')
      await journal.append(entry)
      reach(`${entry.step}:noted`)
    },
  }
}

const client = new Countersign({ baseUrl, apiKey, fetch: fetchReaching, sleep: async () => {} })
const effects = join(folder, 'effects')

async function act(_verdict: unknown, signal: AbortSignal): Promise<void> {
  reach('run:begun')
  if (run === 'fails') throw new ActionFailed('no such account')
  if (run === 'not_executed') throw new NotExecuted('outside of opening hours')
  appendFileSync(effects, 'done\n')
  reach('run:done')
  signal.throwIfAborted()
  if (run === 'error') throw new Error('connection lost')
}

async function callOnce(): Promise<string> {
  try {
    await guard(
      client,
      {
        ...options,
        ...(journalPath !== null && { journal: journalReaching(journalPath) }),
        ...(key && { idempotencyKey: `key-of-${options.agentSessionId}` }),
        signal: controller.signal,
        onUnknown: ({ jti }) => appendFileSync(join(folder, 'told'), `${jti}\n`),
      },
      act,
    )
    return 'ok'
  } catch (error) {
    if (error === controller.signal.reason) return 'aborted'
    if (error instanceof NotAllowed) {
      // Every refusal of verify is a decision of the ledger.
      return error.decisionId === undefined ? `${error.name} without a decision` : `${error.name} ${error.reason}`
    }
    return (error as Error).name
  }
}

const outcomes: string[] = []
for (let call = 0; call < calls; call += 1) outcomes.push(await callOnce())
process.stdout.write(outcomes.join(', '))
