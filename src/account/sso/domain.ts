// The proof that a domain is the organization's own: a TXT record that only those who keep its zone can set.

import { normalizeAddress } from '#src/platform/mail-address.ts'
import { isUnanswered, type TxtLookup } from '#src/platform/net/lookup.ts'

/** `unanswered` says nothing of the domain. */
export type DomainCheck = 'found' | 'missing' | 'unanswered'

const PREFIX = 'countersign-domain-verification='

export function recordOf({ domain, domainToken }: { domain: string; domainToken: string }) {
  return { name: `_countersign.${domain}`, value: `${PREFIX}${domainToken}` }
}

export async function checkDomain(
  lookupTxt: TxtLookup,
  of: { domain: string; domainToken: string },
): Promise<DomainCheck> {
  const { name, value } = recordOf(of)
  try {
    const records = await lookupTxt(name)
    return records.some((chunks) => chunks.join('').trim() === value) ? 'found' : 'missing'
  } catch (error) {
    return isUnanswered(error) || !isAbsence(error) ? 'unanswered' : 'missing'
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA')
}

/** In lower case and ASCII; undefined for what is no domain of addresses. */
export function normalizeDomain(text: string): string | undefined {
  const address = normalizeAddress(`x@${text.trim()}`)
  const domain = address?.slice(2)
  return domain?.includes('.') ? domain : undefined
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1)
}
