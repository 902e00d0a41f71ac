// `admin -- master-key`: where sealed values stand, and their move to the current key.

import { countSealed, type ResealPass, resealAll, type UnopenedValue } from '#src/platform/crypto/reseal.ts'
import type { Services } from '#src/services.ts'
import type { Context } from './commands.ts'

// More would hide the first ones; the count is whole.
const MAX_NAMED = 50
const PROGRESS_MS = 5_000

export async function reportMasterKeys({ services, say }: Context): Promise<object[]> {
  const counts = await countSealed(partsOf(services))
  const others = counts.filter(({ key }) => key !== 'current').reduce((sum, { values }) => sum + values, 0)
  const current = services.platform.sealer.keyIds[0]
  if (others === 0) say(`Every value stands under ${current}.`)
  else say(`${others} values do not stand under ${current}: \`master-key reseal\` moves them.`)
  return counts
}

/** Without confirmation: it destroys nothing, and the old key still opens what it has not reached. */
export async function resealSecrets({ services, log, say }: Context): Promise<object> {
  const keyId = services.platform.sealer.keyIds[0]
  let passes = 0
  let saidAt = performance.now()
  const onPass = (pass: ResealPass) => {
    passes += 1
    const left = pass.found - pass.resealed - pass.unopened.length
    const rest = left === 0 ? '' : `; ${left} were locked or changed, and come again`
    say(`Pass ${passes}: found ${pass.found}, sealed ${pass.resealed} under ${keyId}${rest}.`)
  }
  const onPlace = ({ places, resealed }: ResealPass) => {
    if (performance.now() - saidAt < PROGRESS_MS) return
    saidAt = performance.now()
    say(`Pass ${passes + 1}: ${Math.floor(places / 2)} accounts searched, ${resealed} values sealed so far.`)
  }
  const { resealed, unopened } = await resealAll(partsOf(services), onPass, onPlace)
  log('master-key reseal', { keyId, resealed, unopened: unopened.length })
  if (unopened.length > 0) throw new Error(describeUnopened(unopened))
  return {
    keyId,
    resealed,
    passes,
    note: 'When no process has the old key as MASTER_KEY, it may go: docs/operate/keys.md.',
  }
}

function partsOf({ platform, features, account }: Services) {
  const columns = features.flatMap(({ sealed = [] }) => sealed)
  return { db: platform.db, sealer: platform.sealer, columns, accounts: () => account.accounts.walk() }
}

function describeUnopened(unopened: readonly UnopenedValue[]): string {
  const named = unopened.slice(0, MAX_NAMED).map(({ table, column, id, account, environment, reason }) => {
    const whose = account === undefined ? '' : ` of ${account} (${environment})`
    return `  ${table}.${column} ${id}${whose}: ${reason}`
  })
  const more = unopened.length > MAX_NAMED ? [`  and ${unopened.length - MAX_NAMED} more`] : []
  return [
    `${unopened.length} values could not be opened, and stay as they are. Keep every old key configured until they are dealt with:`,
    ...named,
    ...more,
  ].join('\n')
}
