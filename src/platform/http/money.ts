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
  .meta({ description: 'Limit in major units: a number or a decimal string, above 0, with at most 4 decimals.' })

export const currencyRequest = z
  .string()
  .superRefine((value, issues) => {
    if (CURRENCIES.has(value)) return
    const message = isCurrency(value) ? `${value} is no code of ISO 4217` : 'must be a code of ISO 4217, such as EUR'
    issues.addIssue({ code: 'custom', message, params: { code: 'invalid_currency' } })
  })
  .meta({ pattern: '^[A-Z]{3}$' })

// ISO 4217, list one, as of 2026, with the codes of funds and metals. Without XTS, for tests of systems, and XXX, for no
// currency.
const CURRENCIES: ReadonlySet<string> = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
  CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG
  HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK
  MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR
  SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW
  UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XUA YER ZAR ZMW ZWG`.split(
    /\s+/,
  ),
)
