// `admin -- signing-key`: the keys that sign results and tokens. No command shows or reads a private key.

import type { KeyFamily } from '#src/platform/crypto/signing-keys.ts'
import { oneOf, readEnvironment, readTime, required, type Values } from './arguments.ts'
import type { Act, Context } from './commands.ts'

export const FAMILIES = ['tokens', 'records'] as const

const SIGNS = { record: 'results', token: 'tokens' }

export async function listSigningKeys({ services }: Context): Promise<object[]> {
  return services.platform.signingKeys.list()
}

export function readSigningKeyRotate(values: Values): Act {
  const environment = readEnvironment(values)
  const family = readFamily(required('--family', values.family))
  const { now: isImmediate } = values
  return async ({ services, confirm, log }) => {
    const { signingKeys } = services.platform
    const keys = await signingKeys.list()
    const waiting = keys.find(
      (key) => key.environment === environment && key.family === family && key.state === 'announced',
    )
    if (waiting !== undefined && !isImmediate) {
      throw new Error(`${waiting.kid} was announced already: it takes over at ${waiting.activeFrom.toISOString()}.`)
    }
    const next = waiting === undefined ? `Make a new ${environment} key for ${SIGNS[family]}` : `Use ${waiting.kid}`
    await confirm(
      isImmediate
        ? `${next} and sign with it from now on? Verifiers that cached the key set refuse it until they read it again, 5 minutes by its Cache-Control.`
        : `${next}? It is published now and signs from tomorrow at this time, in place of the one that signs today.`,
    )
    const kid = await signingKeys.rotate(environment, family, { isImmediate })
    log('signing-key rotate', { environment, family, kid, ...(isImmediate && { isImmediate }) })
    return signingKeys
      .list()
      .then((all) => all.filter((key) => key.environment === environment && key.family === family))
  }
}

export function readSigningKeyRevoke(values: Values, word: string | undefined): Act {
  const kid = required('KID', word)
  const doubtedSince = readTime('--doubted-since', required('--doubted-since', values['doubted-since']))
  return async ({ services, confirm, log }) => {
    const { signingKeys } = services.platform
    const key = (await signingKeys.list()).find((one) => one.kid === kid)
    if (key === undefined) throw new Error(`There is no signing key ${kid}: \`signing-key list\` shows them.`)
    await confirm(
      key.family === 'token'
        ? `Revoke ${kid}? Every ${key.environment} token that it signed is refused from now on, permanently.`
        : `Revoke ${kid}? The ${key.environment} results and packets that it signed are shown as doubted since ${doubtedSince.toISOString()}, permanently.`,
    )
    const signing = await signingKeys.revoke(kid, doubtedSince)
    log('signing-key revoke', { kid, doubtedSince: doubtedSince.toISOString(), signing })
    const keys = await signingKeys.list()
    return keys.filter((one) => one.kid === kid || one.kid === signing)
  }
}

/** Lists show a key's family in the singular. */
function readFamily(given: string): KeyFamily {
  const family = oneOf('--family', /^(?:token|record)$/.test(given) ? `${given}s` : given, FAMILIES)
  return family === 'tokens' ? 'token' : 'record'
}
