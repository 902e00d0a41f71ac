import { quote } from '#src/platform/sanitize.ts'
import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

// How far the device's clock may differ from the server's, which timed the nonce.
const CLOCK_SKEW_MS = 5 * 60 * 1000

type Problem =
  | 'missing'
  | 'unknown'
  | 'reused'
  | 'out_of_time'
  | 'other_device'
  | 'other_claim'
  | 'other_seed'
  | 'other_stream'

/** `session_nonce_mismatch`: one factor, however many things are wrong with the nonce; `found` lists them all. */
export function judgeSession(facts: CapturedFacts): ScoredFactor<'session_nonce_mismatch'> | null {
  const problems = problemsOf(facts)
  if (problems.length === 0) return null
  const { bundle, session } = facts
  return scored('session_nonce_mismatch', {
    compared: 'session_nonce of the bundle',
    expected: 'issued by the server, for this device and claim, unused, in its time',
    found: problems,
    captured_at: bundle.capturedAt.toISOString(),
    issued_at: session?.issuedAt?.toISOString() ?? null,
    expires_at: session?.expiresAt?.toISOString() ?? null,
    skew_seconds: CLOCK_SKEW_MS / 1000,
    // An accepted nonce was used by this attestation itself; only another one is worth naming.
    used_by: session?.state === 'reused' ? session.consumedBy : null,
    issued_for: session?.deviceId ?? null,
    device_id: signerOf(facts) ?? bundle.deviceId,
    claim_issued_for: quote(session?.claimReference ?? ''),
    claim_reference: quote(facts.claimReference ?? ''),
    ...(facts.video?.manifest ? { chain_seed: quote(facts.video.manifest.seed ?? '') } : {}),
  })
}

function problemsOf(facts: CapturedFacts): Problem[] {
  return [...nonceProblems(facts), ...seedProblems(facts)]
}

function nonceProblems(facts: CapturedFacts): Problem[] {
  const { session, bundle, media, policy } = facts
  if (session === null) {
    if (bundle.sessionNonce !== null) return ['unknown']
    return policy.requireSessionNonce === true || media.mediaType === 'video' ? ['missing'] : []
  }
  if (session.state === 'unknown') return ['unknown']
  const problems: Problem[] = []
  if (session.state === 'reused') problems.push('reused')
  if (!isInTime(bundle.capturedAt, session.issuedAt, session.expiresAt)) problems.push('out_of_time')
  if (session.deviceId !== null && session.deviceId !== signerOf(facts)) problems.push('other_device')
  const boundTo = session.claimReference ?? null
  if (boundTo !== null && boundTo !== (facts.claimReference ?? null)) problems.push('other_claim')
  return problems
}

// A chain that does not begin with this session's nonce could have been made earlier; so could chunks of another
// session.
function seedProblems({ bundle, media, video }: CapturedFacts): Problem[] {
  if (media.mediaType !== 'video' || video == null) return []
  const seed = video.manifest?.seed ?? null
  const problems: Problem[] = []
  if (seed !== null && seed !== bundle.sessionNonce) problems.push('other_seed')
  if (video.streamNonce !== null && video.streamNonce !== bundle.sessionNonce) problems.push('other_stream')
  return problems
}

function isInTime(capturedAt: Date, issuedAt: Date | null, expiresAt: Date | null): boolean {
  if (issuedAt === null || expiresAt === null) return false
  const at = capturedAt.getTime()
  return at >= issuedAt.getTime() - CLOCK_SKEW_MS && at <= expiresAt.getTime() + CLOCK_SKEW_MS
}

// Device whose key signed. A bundle may name any device, so a name alone does not prove that the nonce was issued for
// it.
function signerOf({ device }: CapturedFacts): string | null {
  return device === null || device.state === 'not_enrolled' ? null : device.id
}
