import type { TenantTable } from '#src/platform/feature.ts'

/** The account itself, its keys and its users. */
export const ACCOUNT_DATA: readonly TenantTable[] = [
  { table: 'accounts', key: ['id'], isOfAccount: true, secrets: ['suspension_reason'] },
  { table: 'api_keys', key: ['id'], secrets: ['hash'] },
  { table: 'users', key: ['id'], isOfAccount: true },
  { table: 'user_sessions', key: ['id'], isOfAccount: true, secrets: ['secret_hash'] },
]
