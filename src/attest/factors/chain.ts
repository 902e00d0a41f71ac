import { quote } from '#src/platform/sanitize.ts'
import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `cert_unknown_ca`: the chain does not lead to a known root at the time of capture, whatever the reason. */
export function judgeChain({ bundle, chain }: CapturedFacts): ScoredFactor<'cert_unknown_ca'> | null {
  if (chain?.isTrusted === true) return null
  return scored('cert_unknown_ca', {
    compared: 'certificate chain of the signing key',
    expected: 'signed by a known root CA',
    found: chain?.code ?? 'no_chain',
    // Parts of a certificate are untrusted text.
    detail: quote(chain?.detail ?? ''),
    subject: quote(chain?.subject ?? ''),
    judged_at: bundle.capturedAt.toISOString(),
  })
}
