// The fields of log lines, all of them: a field that operators search for has one name in every process. The type of
// the log (src/platform/log.ts) accepts no other. Ids and names only, no personal data.

/** What a line is about. Lines and spans of a request or job carry the subjects that are known by then. */
export const LOG_SUBJECTS = [
  'requestId',
  // `GET /v1/claims/:id`, as declared.
  'route',
  'queue',
  'job',
  'attempt',
  'task',
  'account',
  'environment',
  // The API key that was refused.
  'key',
  // The API key or user that made a change.
  'actor',
  'claim',
  'case',
  'attestation',
  'reevaluation',
  'batch',
  'screening',
  'delivery',
  'recovery',
  'endpoint',
  // Policies.
  'rule',
  'packet',
  'mail',
  'export',
  'agent',
  'agentSession',
  'lock',
  'trace',
  'traceJob',
  'diff',
  // A language model of the installation.
  'model',
  'share',
  'disclosure',
  'intent',
  'mandate',
  'schedule',
  'prescriber',
  'order',
  'exclusionImport',
  'exclusionScreening',
  'exclusionReview',
] as const
export type LogSubject = { [Name in (typeof LOG_SUBJECTS)[number]]?: Name extends 'attempt' ? number : string }

/** What a line says about its subject. */
export interface LogDetails {
  err?: unknown
  /** Code and status of a Failure. */
  code?: string
  status?: number
  /** Why, as far as it is known without a stack. */
  reason?: string
  /** That accelerates a model. */
  runtime?: string
  error?: string
  detail?: string
  outcome?: string
  seconds?: number
  delayMs?: number
  offsetMs?: number
  /** How often what the line says happened since the line before. */
  times?: number
  /** Jobs. */
  lost?: number
  lapsed?: number
  /** The rule of retention; rows deleted by each rule, and files removed at the start of a process. */
  what?: string
  purged?: Record<string, number>
  /** Counts of an erasure or of an evidence packet. */
  attestations?: number
  media?: number
  format?: string
  /** Version of the risk policy. */
  version?: number
  detector?: string
  url?: string
  /** An operator's command. */
  act?: string
  /** A named check of readiness. */
  check?: string
  /** Step of an ordered end. */
  step?: string
  pid?: number | undefined
  port?: number | undefined
  internal?: number
}
export type LogFields = LogSubject & LogDetails
