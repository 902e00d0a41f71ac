// Where statements become payments. The service sells nothing by itself: without a processor a statement is a list of
// units.

export const PAYMENT_STATUSES = ['open', 'paid', 'failed'] as const

export interface StatementPayment {
  status: (typeof PAYMENT_STATUSES)[number]
  /** Where a person pays, or sees that it was paid. */
  url: string | null
}

export interface PaymentProcessor {
  name: string
  /** The payments of some months of an account, by month. A month without one is absent. */
  findPayments(accountId: string, months: readonly string[]): Promise<ReadonlyMap<string, StatementPayment>>
}

export const NO_PROCESSOR: PaymentProcessor = { name: 'none', findPayments: async () => new Map() }
