import type { CompiledPolicy } from '#src/authorize/policy/compile.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'

/** Accounts whose policy this process has seen last; further ones are asked about as if they were new. */
const MAX_REMEMBERED = 10_000

/** Remembers which policies ask nothing outside. Out of date it costs a second transaction and no wrong answer. */
export function createPolicyMemory() {
  const known = new Map<string, boolean>()
  const nameOf = ({ accountId, environment }: Caller) => `${accountId} ${environment}`
  return {
    asksNothing: (caller: Caller) => known.get(nameOf(caller)) === true,
    keep(caller: Caller, { rules }: CompiledPolicy) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      const asks = rules.some(({ requirements }) => requirements.some(({ kind }) => OUTSIDE.has(kind)))
      known.set(nameOf(caller), !asks)
    },
  }
}

const OUTSIDE: ReadonlySet<string> = new Set(['webhook', 'canary'])
