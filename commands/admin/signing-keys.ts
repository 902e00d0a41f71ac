// `admin -- signing-keys`: the keys that sign results and tokens. No command shows or reads a private key.

import type { KeyFamily } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { Command } from './commands.ts'

export const FAMILIES = ['record', 'token'] as const satisfies readonly KeyFamily[]

const SIGNS = { record: 'results', token: 'tokens' }

export function listSigningKeys(): Command['act'] {
  return async ({ services }) => services.platform.signingKeys.list()
}

export function rotateSigningKey(environment: Environment, family: KeyFamily): Command['act'] {
  return async ({ services, confirm, log }) => {
    const keys = await services.platform.signingKeys.list()
    const waiting = keys.find(
      (key) => key.environment === environment && key.family === family && key.state === 'announced',
    )
    if (waiting !== undefined) {
      throw new Error(`${waiting.kid} was announced already: it takes over at ${waiting.activeFrom.toISOString()}.`)
    }
    await confirm(
      `Make a new ${environment} key for ${SIGNS[family]}? It is published now and signs from tomorrow at this time, in place of the one that signs today.`,
    )
    const kid = await services.platform.signingKeys.rotate(environment, family)
    log('signing-keys rotate', { environment, family, kid })
    return services.platform.signingKeys
      .list()
      .then((all) => all.filter((key) => key.environment === environment && key.family === family))
  }
}
