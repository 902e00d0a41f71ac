// What an incident report says of a day's entries of the ledger (21 CFR 1311.150: auditable events, and a report of security
// incidents within one business day). Pure.

/** Kinds of incidents, in the order of a report. */
export const INCIDENT_KINDS = [
  'failed_signature',
  'excluded_attempt',
  'refused_act',
  'override',
  'tier_change',
  'list_change',
  'policy_change',
] as const
export type IncidentKind = (typeof INCIDENT_KINDS)[number]

/** An entry of the ledger. */
export interface ReportedEntry {
  id: string
  at: Date
  reason: string
  subject: string | null
  inputs: Record<string, string | null>
}

export interface Incident {
  kind: IncidentKind
  decision_id: string
  at: string
  /** The act or the refusal, as the ledger names it. */
  reason: string
  subject_id: string | null
  /** Why an act was refused. */
  cause: string | null
}

export interface IncidentReport {
  counts: Record<IncidentKind, number>
  incidents: Incident[]
  /** Incidents that are counted and not listed. */
  omitted: number
}

// More than a person reads. All of them are in the ledger.
const MAX_INCIDENTS = 1_000
const EXCLUDED = ['prescriber_excluded', 'clinical:exclusion_review']

export function reportOf(entries: Iterable<ReportedEntry>): IncidentReport {
  const counts = Object.fromEntries(INCIDENT_KINDS.map((kind) => [kind, 0])) as Record<IncidentKind, number>
  const incidents: Incident[] = []
  let omitted = 0
  for (const { id, at, reason, subject, inputs } of entries) {
    const kind = kindOf(reason, inputs)
    if (kind === undefined) continue
    counts[kind] += 1
    const cause = inputs.cause ?? inputs.reason ?? null
    const incident = { kind, decision_id: id, at: at.toISOString(), reason, subject_id: subject, cause }
    if (incidents.length < MAX_INCIDENTS) incidents.push(incident)
    else omitted += 1
  }
  return { counts, incidents, omitted }
}

/** undefined: what is no incident, such as a signature. */
function kindOf(reason: string, inputs: ReportedEntry['inputs']): IncidentKind | undefined {
  if (reason === 'order_execution_refused') return isExcluded(inputs) ? 'excluded_attempt' : undefined
  if (reason === 'order_signature_refused') {
    return isExcluded(inputs) ? 'excluded_attempt' : 'failed_signature'
  }
  if (reason === 'order_refused') return 'refused_act'
  // A person decided against what a list or its checks said.
  if (reason === 'exclusion_review_cleared' || inputs.forced === 'true') return 'override'
  if (reason.startsWith('exclusion')) return 'list_change'
  if (reason.startsWith('clinical_')) return 'policy_change'
  return reason.startsWith('prescriber') ? 'tier_change' : undefined
}

function isExcluded({ cause }: ReportedEntry['inputs']): boolean {
  return EXCLUDED.includes(cause ?? '')
}
