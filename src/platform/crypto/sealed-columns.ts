// Where sealed values stand. Each feature declares its own, so that a rotation of the master key finds every one of them.

export interface SealedColumn {
  table: string
  /** Of type bytea. NULL is no value. */
  column: string
  /** Whose rows they are. `environment`: of an account in one environment, as most. */
  of: 'deployment' | 'account' | 'environment'
  /** The column that identifies a row, within its account and environment. */
  id: string
  /** Other columns that `use` reads. */
  reads?: readonly string[]
  /** What the value was sealed for (`aad` of the sealer), from the columns `id` and `reads`, as text. */
  use(row: Record<string, string>): string
}
