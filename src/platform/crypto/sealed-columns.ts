// Where sealed values stand. Each feature declares its own, so that a rotation of the master key finds every one of them.

export interface SealedColumn {
  table: string
  /** Column of type bytea. NULL is no value. */
  column: string
  /** Owner of the rows. `environment`: an account in one environment, which is the usual owner. */
  of: 'deployment' | 'account' | 'environment'
  /** The column that identifies a row, within its account and environment. */
  id: string
  /** Other columns that `use` reads. */
  reads?: readonly string[]
  /** What the value was sealed for (`aad` of the sealer), from the columns `id` and `reads`, as text. */
  use(row: Record<string, string>): string
}
