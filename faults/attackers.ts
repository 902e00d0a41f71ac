// Another account that attacks while the insurers submit. Its requests are those of test/support/attacks.ts; their
// results are not checked, so its rows are left out of the evidence, except for their owner.

import { setTimeout as delay } from 'node:timers/promises'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { type AttackRate, openTarget, runAttack } from '../test/support/attack-loop.ts'
import { ATTACKS, type Attack } from '../test/support/attacks.ts'
import type { Assault } from './plan.ts'
import type { PostgresServer } from './stores.ts'

export interface Attackers {
  /** The attacker's accounts: one whose key is private, one whose key is published. */
  accountIds: readonly string[]
  /** Attacks for so long. Returns how many requests were sent. */
  attack(how: Assault, ms: number): Promise<{ sent: number }>
  close(): Promise<void>
}

const SWEEP_MS = 500
const RATES: Record<Assault, AttackRate> = {
  certificates: { atOnce: 2, perSecond: 4 },
  tls: { atOnce: 2, perSecond: 4 },
  locks: { atOnce: 5, perSecond: 10 },
  pictures: { atOnce: 3, perSecond: 3 },
  bodies: { atOnce: 2, perSecond: 2 },
  hanging: { atOnce: 2, perSecond: 10 },
}

/** @param assaults Prepared now, before the first fault. */
export async function startAttackers(
  postgres: PostgresServer,
  { url, assaults }: { url: string; assaults: readonly Assault[] },
): Promise<Attackers> {
  const db = createDatabase({ url: postgres.loginUrl(postgres.port()) })
  const addKey = async (name: string, isAccountBearing: boolean) => {
    const { id: accountId } = await createAccounts({ db }).create({ id: newAccountId('acc'), name, plan: 'enterprise' })
    const scope = { accountId, environment: 'sandbox' } as const
    const { key } = await createKeys({ db }).create(scope, { name, scopes: ['all'], isAccountBearing })
    return { accountId, key }
  }
  const own = await addKey('Attacker', true)
  const published = await addKey('Published', false)
  await db.close()
  const target = openTarget(url, { key: own.key, publishableKey: published.key })
  const accountIds = [own.accountId, published.accountId]
  const prepared = new Map<Assault, Attack>()
  for (const how of new Set(assaults)) prepared.set(how, await ATTACKS[how](target))

  // Jobs that an attack leaves in the backlog, and later retries, would be part of the next fault.
  let isAttacking = false
  const sweep = async () => {
    if (isAttacking) return
    await postgres.owner(
      `UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE account_id = ANY($1) AND state = 'queued'`,
      [accountIds],
    )
  }
  // Postgres may be unavailable: then the next time.
  const sweeping = setInterval(() => void sweep().catch(() => {}), SWEEP_MS)

  return {
    accountIds,
    async attack(how, ms) {
      const attack = prepared.get(how)
      if (attack === undefined) throw new Error(`the attack ${how} was not prepared`)
      const ending = new AbortController()
      target.endWith(ending.signal)
      isAttacking = true
      const ended = runAttack(attack, RATES[how], ending.signal)
      await delay(ms)
      ending.abort()
      const { sent } = await ended
      isAttacking = false
      return { sent }
    },
    async close() {
      clearInterval(sweeping)
      await target.close()
    },
  }
}
