// Money in the bodies of requests: an amount becomes the decimal text that equal amounts share.

import { z } from 'zod'
import { formatAmount, isCurrency, parseAmount } from '#src/platform/amounts.ts'

export const amountRequest = z
  .union([z.number(), z.string().max(32)])
  .refine((value) => (parseAmount(value) ?? 0n) > 0n, {
    message: 'must be a number or a decimal string above 0 with at most 4 decimals, up to 10^15',
    params: { code: 'invalid_amount' },
  })
  .transform((value) => formatAmount(parseAmount(value) ?? 0n))
  .meta({ description: 'In major units: a number or a decimal string, above 0, with at most 4 decimals.' })

export const currencyRequest = z
  .string()
  .refine(isCurrency, { message: 'must be a code of ISO 4217, such as EUR', params: { code: 'invalid_currency' } })
  .meta({ pattern: '^[A-Z]{3}$' })
