// Written by `npm run clients` from the routes of the service: change those.

/** A value that this version knows, or one that a later service added. */
export type Open<Known extends string> = Known | (string & {})

export interface AcceptInviteRequest {
  token: string
  /**
   * The person is signed in as the only user of another account, which is closed with it; see the guide Team. The header
   * X-CSRF-Token is required then.
   */
  closeOwnAccount?: boolean | undefined
}

export interface Account extends SessionAccount {
  createdAt: string
  /** null: the account is open. */
  closedAt: string | null
  /** Set on a closed account, whose closure can be undone until then. */
  erasedAfter: string | null
  environments: AccountEnvironment[]
  limits: PlanLimits
  /** Notices of this month, oldest first. */
  notices: AccountNotice[]
  /** Counts the changes of name, plan and products. The `ETag` has it. */
  version: number
}

export interface AccountClosure {
  accountId: string
  /** null: the account is open. */
  closedAt: string | null
  closedBy: Actor | null
  /** The closure can be undone until then. */
  erasedAfter: string | null
}

export interface AccountEnvironment {
  environment: Open<Environment>
  isMetered: boolean
}

export interface AccountExport {
  exportId: string
  status: Open<WorkStatus>
  failure: ExportFailure | null
  includesMedia: boolean
  requestedBy: Actor
  progress: ExportProgress
  /** Bytes of the archive. */
  size: number | null
  /** SHA-256 of the archive, in hexadecimal. */
  sha256: string | null
  createdAt: string
  finishedAt: string | null
  /** The archive can be downloaded until then. */
  expiresAt: string | null
}

export interface AccountExportList {
  object: 'list'
  data: AccountExport[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface AccountNotice {
  /** Threshold that was reached: 80 % or 100 % of the monthly operations. */
  kind: Open<AccountNoticeKind>
  /** Month in UTC, such as 2026-11. */
  month: string
  plan: Open<Plan>
  cap: number
  used: number
  createdAt: string
}

export type AccountNoticeKind = 'usage_80' | 'usage_100'

export interface AccountPlan {
  plan: Open<Plan>
  limits: PlanLimits
  usage: MonthUse
  plans: OfferedPlan[]
}

export interface AccountProducts {
  products: Open<Product>[]
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
}

export interface Actor {
  /**
   * user: a member of the account; key: an API key; agent: a registered agent; operator: the operator of the deployment;
   * service: the service by itself; directory: the identity provider of the account.
   */
  type: Open<ActorType>
  /** The `usr_`, `key_` or `agt_` id; null for the other types. */
  id: string | null
  /**
   * A user's e-mail address; the person whom the caller of a key named, otherwise the key's name; an agent's name. null
   * when the row is gone, and in events, which contain nothing personal.
   */
  label: string | null
}

export type ActorType = 'user' | 'key' | 'agent' | 'operator' | 'service' | 'directory'

export interface AddCaseNoteRequest {
  /** The person who acts. Required with an API key. A session acts for its own user, and this is ignored. */
  actor?: string | undefined
  note: string
}

export type AdvisoryCode = 'exif_missing' | 'exif_timestamp_mismatch' | 'exif_editor_trace' | 'geofence_mismatch' | 'c2pa_absent' | 'c2pa_invalid' | 'c2pa_present_valid' | 'carrier_policy_attestation_missing' | 'carrier_policy_biometric_missing' | 'carrier_policy_gps_missing' | 'ai_generated_likely' | 'deepfake_likely'

/** A finding that never counts toward the risk score. */
export interface AdvisoryFactor {
  code: Open<AdvisoryCode>
  evidence: FactorEvidence
}

export interface Agent {
  agentId: string
  name: string
  owner: string
  status: Open<AgentStatus>
  /** Current causes. The agent is active when the list is empty, unless it is retired. */
  suspensions: AgentSuspension[]
  /** When the agent was retired, which is permanent. */
  retiredAt: string | null
  retiredBy: Actor | null
  retiredReason: string | null
  publicKey: AgentPublicKey | null
  /** SHA-256 thumbprint of RFC 7638. */
  publicKeyThumbprint: string | null
  metadata: Record<string, unknown>
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

export interface AgentList {
  object: 'list'
  data: Agent[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type AgentPublicKey = P256PublicKey | Ed25519PublicKey

export interface AgentSession {
  agentSessionId: string
  agentId: string
  status: Open<AgentSessionStatus>
  metadata: Record<string, unknown>
  createdBy: Actor
  createdAt: string
  endedBy: Actor | null
  endedAt: string | null
}

export interface AgentSessionList {
  object: 'list'
  data: AgentSession[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type AgentSessionStatus = 'open' | 'ended'

export type AgentStatus = 'active' | 'suspended' | 'retired'

export interface AgentSuspension {
  cause: Open<SuspensionCause>
  /** Set with the cause `lock`: clear this lock to lift the suspension. */
  lockId: string | null
  reason: string | null
  suspendedBy: Actor
  suspendedAt: string
}

export interface AnalyzePolicyRequest {
  /** Default: the stored policy. */
  document?: PolicyDocument | undefined
}

export type AndroidBootState = 'verified' | 'self_signed' | 'unverified' | 'failed'

export interface AndroidEvidence {
  format: 'android-key'
  /** A challenge of this service, unused and not expired. */
  challenge: string
  /** Certificates as DER in base64: the key’s certificate first, the root last, as the key store returns them. */
  chain: string[]
}

export interface AndroidHardware {
  securityLevel: Open<AndroidSecurityLevel>
  attestationVersion: number
  keymintVersion: number
  /** How the vendor’s key was provisioned in the device. */
  provisioning: Open<AndroidProvisioning>
  bootState: Open<AndroidBootState> | null
  deviceLocked: boolean | null
  osVersion: number | null
  osPatchLevel: string | null
  vendorPatchLevel: string | null
  bootPatchLevel: string | null
  /** Age when the evidence was verified. */
  osPatchAgeDays: number | null
  /** How the key is unlocked, according to the hardware. `either`: the hardware does not tell which of the two. */
  userAuthentication: Open<UserAuthentication>
  authTimeoutSeconds: number | null
  packages: AndroidPackage[]
  signingDigests: string[]
  brand: string | null
  model: string | null
}

export interface AndroidHardwareVerbatim {
  security_level: Open<AndroidSecurityLevel>
  attestation_version: number
  keymint_version: number
  /** How the vendor’s key was provisioned in the device. */
  provisioning: Open<AndroidProvisioning>
  boot_state: Open<AndroidBootState> | null
  device_locked: boolean | null
  os_version: number | null
  os_patch_level: string | null
  vendor_patch_level: string | null
  boot_patch_level: string | null
  /** Age when the evidence was verified. */
  os_patch_age_days: number | null
  /** How the key is unlocked, according to the hardware. `either`: the hardware does not tell which of the two. */
  user_authentication: Open<UserAuthentication>
  auth_timeout_seconds: number | null
  packages: AndroidPackage[]
  signing_digests: string[]
  brand: string | null
  model: string | null
}

export interface AndroidPackage {
  name: string | null
  version: number
}

export type AndroidProvisioning = 'factory' | 'remote'

export type AndroidSecurityLevel = 'software' | 'tee' | 'strongbox'

export type AnyFactorCode = 'device_revoked' | 'session_nonce_mismatch' | 'signature_invalid' | 'no_manifest' | 'frame_hash_mismatch' | 'sensor_hash_mismatch' | 'cert_unknown_ca' | 'hardware_backing_absent' | 'liveness_check_failed' | 'video_manifest_incomplete' | 'gps_absent' | 'timestamp_stale' | 'device_not_enrolled' | 'biometric_absent' | 'exif_missing' | 'exif_timestamp_mismatch' | 'exif_editor_trace' | 'geofence_mismatch' | 'c2pa_absent' | 'c2pa_invalid' | 'c2pa_present_valid' | 'carrier_policy_attestation_missing' | 'carrier_policy_biometric_missing' | 'carrier_policy_gps_missing' | 'ai_generated_likely' | 'deepfake_likely'

export interface ApiKey {
  apiKeyId: string
  name: string
  /** The first 8 characters of the key. */
  prefix: string
  /** Its last 4. */
  last4: string | null
  scopes: Open<GrantableScope>[]
  environment: Open<Environment>
  plan: Open<Plan>
  status: Open<ApiKeyStatus>
  createdAt: string
  /** Who made it. */
  createdBy: Actor | null
  expiresAt: string | null
  /** When the key was revoked. For a rotated key this is the end of its grace period. */
  revokedAt: string | null
  /** Last use of the key, exact to a minute. */
  lastUsedAt: string | null
  /** Set on a rotated key, which is accepted until then. */
  graceExpiresAt: string | null
  /** null: the key is accepted from every address. */
  ipAllow: string[] | null
  /** Products whose routes the key may call, within its scopes; null: every product. */
  products: Open<Product>[] | null
  /** The key only reads, within its scopes, and changes nothing except the positions of its event consumers. */
  readOnly: boolean
  /** The key that a rotation made. */
  replacedByApiKeyId: string | null
  /** The key whose rotation made this one. */
  replacesApiKeyId: string | null
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
}

export interface ApiKeyList {
  object: 'list'
  data: ApiKey[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** rotating: replaced, and still accepted until grace_expires_at. */
export type ApiKeyStatus = 'active' | 'rotating' | 'revoked' | 'expired'

/** working: all keys that are accepted, active or rotating. */
export type ApiKeyStatusFilter = 'active' | 'rotating' | 'revoked' | 'expired' | 'working'

export interface ApiKeyWarning {
  code: 'last_admin_key'
  detail: string
}

export type AppAttestEnvironment = 'production' | 'development'

export interface AppleEvidence {
  format: 'apple-appattest'
  /** A challenge of this service, unused and not expired. */
  challenge: string
  /** The attestation object, for SHA-256(SubjectPublicKeyInfo || challenge). */
  object: string
  appAttestKeyId?: string | undefined
}

export interface AppleHardware {
  appAttestEnvironment: Open<AppAttestEnvironment>
  appId: string | null
  appAttestKeyId: string
  counter: number
}

export interface AppleHardwareVerbatim {
  app_attest_environment: Open<AppAttestEnvironment>
  app_id: string | null
  app_attest_key_id: string
  counter: number
}

export interface Approval extends ApprovalSummary {
  actionPayload: Record<string, unknown>
  /**
   * How many more people with one of the roles have to approve, while the approval is pending. All entries must be met.
   */
  missing: MissingApprovals[]
}

export interface ApprovalAgeClass {
  fromSeconds: number
  /** End of the class; null: open. */
  toSeconds: number | null
  total: number
  byStatus: ApprovalCounts
}

export interface ApprovalCounts {
  pending: number
  approved: number
  denied: number
  expired: number
  cancelled: number
}

export interface ApprovalDecision {
  /** The user who decided, also when a key decided on their behalf. */
  by: Actor
  /** How they decided. `api_key`: decided through the API on the user’s behalf. */
  via: Open<ApprovalVia>
  decision: Open<ApprovalVote>
  /** Reason given with a denial. */
  comment: string | null
  at: string
}

export interface ApprovalDecisionData {
  by: Actor
  via: Open<ApprovalVia>
  decision: Open<ApprovalVote>
  at: string
}

export type ApprovalEnd = 'approved' | 'denied' | 'expired' | 'cancelled'

export type ApprovalOrigin = 'authorize' | 'verify'

export interface ApprovalReport {
  /** Start of the range of the counted approvals. */
  from: string
  /** End, exclusive. */
  to: string
  ageClasses: ApprovalAgeClass[]
  /** Time that people took to approve or deny. */
  secondsToDecide: ApprovalSeconds
  oldestPending: OldestApproval | null
}

export interface ApprovalRequestedData {
  approval_id: string
  jti: string
  rule_id: string
  /** The clinician's order that the action executes. */
  order_id: string | null
  /** null for the action of an order, which is personal. */
  action_description: string | null
  /** null for the action of an order, which is personal. */
  payload_preview: Record<string, unknown> | null
  action_hash: string
  payload_hash: string
  preview_hash: string
  min_approvals: number
  expires_at: string
  approve_url: string
}

export interface ApprovalRequestedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'approval.requested'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: ApprovalRequestedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export type ApprovalResolution = 'human' | 'timeout' | 'cancelled'

export interface ApprovalResolvedData {
  approval_id: string
  jti: string
  status: Open<ApprovalEnd>
  decisions: ApprovalDecisionData[]
  resolution: Open<ApprovalResolution>
}

export interface ApprovalResolvedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'approval.resolved'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: ApprovalResolvedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface ApprovalSeconds {
  p50: number | null
  p95: number | null
}

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled'

export interface ApprovalSummary {
  approvalId: string
  status: Open<ApprovalStatus>
  /** What ended it: a person, its expiry, or a revocation of the token, the session or the device. */
  resolution: Open<ApprovalResolution> | null
  jti: string
  /** `verify`: the policy was tightened after the token had been issued. */
  origin: Open<ApprovalOrigin>
  /**
   * Rules that the approval covers: the first 20 rules in lists, else the first 100. An approval covers a rule of the
   * policy while the rule has this hash.
   */
  rules: ApprovedRule[]
  /** Number of rules that are left out. */
  rulesOmitted: number
  /** Number of distinct people who have to approve. */
  minApprovals: number
  /** Roles that may decide. */
  roles: Open<ApproverRole>[]
  requirePasskey: boolean
  /** The person who asked for the action, and the owner of the agent, can not decide it. */
  separationOfDuties: boolean
  actionDescription: string
  /** SHA-256 of the description, base64url, as the token has it. */
  actionHash: string
  /** SHA-256 of the canonical JSON of the payload. */
  payloadHash: string
  /** SHA-256 of the canonical JSON of the `payload_preview` of the event. */
  previewHash: string
  agentId: string | null
  agentSessionId: string
  deviceId: string
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
  /** The user who asked for the action, where one is known. */
  requestedBy: Actor | null
  /** The API key or user that authorized the action. */
  authorizedBy: Actor
  createdAt: string
  expiresAt: string
  decidedAt: string | null
  decisions: ApprovalDecision[]
  /** The page where people decide. */
  approveUrl: string
}

export interface ApprovalSummaryList {
  object: 'list'
  data: ApprovalSummary[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ApprovalVia = 'session' | 'passkey' | 'api_key'

export type ApprovalVote = 'approve' | 'deny'

export interface ApproveActionRequest {
  comment?: string | undefined
  /** Signs a challenge of POST /v1/approvals/{id}/challenge. Required where `require_passkey` is true. */
  passkeyAssertion?: PasskeyAssertion | undefined
  /** Person for whom an API key decides. Required with a key, and not for sessions. */
  approver?: NamedApprover | undefined
}

export interface ApprovedRule {
  ruleId: string
  /** SHA-256 of its canonical JSON, base64url. */
  ruleHash: string
  /** Description of the rule by its author; null in lists. GET /v1/approvals/{id} has it. */
  description: string | null
}

export type ApproverRole = 'owner' | 'admin' | 'approver'

export interface AskedDisclosure {
  requestId: string
  status: Open<DisclosureStatus>
  /** End of the code; after verification the end of the request; after a grant the end of the grant. */
  expiresAt: string
}

export interface AttestClaimRequest {
  /** Name of this submission: sending the same content again returns the same attestation. */
  externalId?: string | undefined
  claim?: CaptureClaim | undefined
  mediaType: MediaType
  bundle?: CaptureBundle | undefined
  assertion?: string | undefined
  certificateChain?: string[] | undefined
  signature?: CaptureSignature | undefined
  media: MediaReference | InlineMedia | StreamReference
}

export type AttestDeviceRequest = HardwareEvidence

export interface Attestation {
  attestationId: string
  claimId: string
  /** `succeeded` means that the evaluation ended, whatever the result. */
  status: Open<WorkStatus>
  externalId: string | null
  batchId: string | null
  mediaId: string
  deviceId: string | null
  acceptedAt: string
  provenanceStatus?: Open<ProvenanceStatus>
  riskStatus?: Open<RiskStatus>
  riskScore?: number
  factors?: Factor[]
  advisoryFactors?: AdvisoryFactor[]
  observations?: Observation[]
  hardwareTier?: Open<HardwareTier>
  evaluatedAt?: string
  rulesVersion?: string
  /** Version of the risk policy that judged it; 0: the defaults. */
  policyVersion?: number
  /** The result, signed: verify it against /.well-known/jwks.json. */
  resultJws?: string
  /** Revocation of the key that signed `result_jws`. */
  signingKeyRevoked?: KeyRevocation
  /** Why the evaluation failed; POST …/retry starts it again. */
  failure: AttestationFailure | null
  /** When the media and positions were erased; the signed result stays. */
  erasedAt?: string
}

export interface AttestationCreatedData {
  attestation_id: string
  claim_id: string
  risk_score: number
  risk_status: Open<RiskStatus>
  provenance_status: Open<ProvenanceStatus>
  factor_codes: Open<FactorCode>[]
  advisory_codes: Open<AdvisoryCode>[]
}

export interface AttestationCreatedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'attestation.created'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: AttestationCreatedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface AttestationFailure {
  code: 'evaluation_failed'
  detail: string
}

export interface AttributedToken {
  position: number
  /** Explained token; null: the token that the model said there. */
  token: number | null
}

export type AttributionCapability = 'exact' | 'grad_x_act' | 'ablation' | 'none'

export interface AttributionJob {
  jobId: string
  traceId: string
  modelVersionId: string
  status: Open<WorkStatus>
  /** Progress from 0 to 1. */
  progress: number
  method: Open<AttributionMethod>
  target: AttributedToken
  maxFeatureNodes: number
  maxNLogits: number
  desiredLogitProb: number
  nodeThreshold: number
  edgeThreshold: number
  failure: AttributionJobFailure | null
  result: AttributionResult | null
  createdBy: Actor
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
}

export interface AttributionJobFailure {
  code: Open<AttributionJobFailureCode>
  detail: string
}

export type AttributionJobFailureCode = 'backend_capability_missing' | 'model_version_not_found' | 'text_not_kept' | 'trace_not_reproducible' | 'attribution_inexact' | 'invalid_request' | 'timeout' | 'internal_error'

export interface AttributionJobList {
  object: 'list'
  data: AttributionJob[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface AttributionLink {
  source: string
  target: string
  /** What the source adds to the target’s value. */
  weight: number
}

export interface AttributionManifest {
  /** `svc` has the additions of this service: hashes, the sum check, verified nodes. */
  metadata: AttributionMetadata
  qParams: AttributionQueryParameters
  nodes: AttributionNode[]
  links: AttributionLink[]
}

export interface AttributionMetadata {
  slug: string
  scan: string
  prompt: string
  prompt_tokens: string[]
}

export type AttributionMethod = 'exact' | 'grad_x_act' | 'ablation'

export interface AttributionNode {
  node_id: string
  feature: number | null
  /** `E`, or a whole number; logits have the number after the last layer. */
  layer: string
  ctx_idx: number
  feature_type: string
  jsNodeId: string
  /** The label. */
  clerp: string
  influence?: number | null
  activation?: number | null
  token_prob?: number
  is_target_logit?: boolean
}

export interface AttributionQueryParameters {
}

export interface AttributionResult {
  /** Hexadecimal SHA-256 of the manifest’s bytes, which are RFC 8785 text. */
  manifestHash: string
  manifestBytes: number
  /** End of the time for which the manifest is kept: 30 days, and no longer than its trace. */
  manifestUntil: string
  nodes: number
  links: number
  /** As many as the thresholds ask for; 200000 are kept at most. */
  linksFound: number | null
  /** null: the method is approximate. */
  sumCheck: AttributionSumCheck | null
  /** The share of the total effect of all neurons that belongs to unnamed neurons. */
  remainderShare: number
  /** null: the method is approximate. */
  replacementScore: number | null
  /** null: the method is approximate. */
  completenessScore: number | null
  /** How far ablations of the top nodes agree with the graph. */
  verified: AttributionVerification
}

export interface AttributionSumCheck {
  maxAbsError: number
  rows: number
}

export interface AttributionTarget {
  /**
   * Position of the explained token in the completion: 0 is the first token; the length of the completion is the token
   * after it. Default: `0`.
   */
  position?: number | undefined
  /** Token to explain at this position; when absent, the token that the model said there. */
  token?: number | undefined
}

export interface AttributionVerification {
  nodes: number
  sameSign: number
  correlation: number | null
}

export type AuditAction = 'act.refused' | 'account.created' | 'account.renamed' | 'account.suspended' | 'account.unsuspended' | 'account.exported' | 'account.export_read' | 'account.closed' | 'account.reopened' | 'plan.changed' | 'products.changed' | 'key.created' | 'key.changed' | 'key.rotated' | 'key.revoked' | 'user.signed_in' | 'user.signed_out' | 'user.sign_in_refused' | 'sso.configured' | 'sso.domain_verified' | 'sso.domain_ended' | 'sso.removed' | 'sso.login_refused' | 'sso.linked' | 'scim_token.created' | 'scim_token.revoked' | 'login_link.printed' | 'user.invited' | 'invite.resent' | 'invite.revoked' | 'invite.accepted' | 'user.provisioned' | 'user.updated' | 'user.role_changed' | 'user.deprovisioned' | 'passkey.registered' | 'passkey.renamed' | 'passkey.removed' | 'passkey.counter_refused' | 'webhook_endpoint.created' | 'webhook_endpoint.changed' | 'webhook_endpoint.secret_rotated' | 'webhook_endpoint.deleted' | 'webhook_endpoint.recovered' | 'webhook_delivery.redelivered' | 'webhook_deliveries.exported' | 'event_consumer.deleted' | 'policy_webhook_secret.rotated' | 'risk_policy.changed' | 'policy.changed' | 'policy.rolled_back' | 'prescriber.created' | 'prescriber.changed' | 'prescriber.suspended' | 'prescriber.reinstated' | 'prescriber_fact.entered' | 'prescriber_fact.confirmed' | 'prescriber_fact.ended' | 'clinical_policy.changed' | 'clinical_formulary.replaced' | 'order.created' | 'order.edited' | 'order.signed' | 'order.cosigned' | 'order.declined' | 'order.cancelled' | 'order.signature_refused' | 'order.refused' | 'exclusion_list.uploaded' | 'exclusion_review.decided' | 'schedule.created' | 'schedule.paused' | 'schedule.resumed' | 'schedule.cancelled' | 'agent.retired' | 'screening_settings.changed' | 'kill_switch.changed' | 'share.created' | 'share.changed' | 'share.revoked' | 'disclosure.granted' | 'disclosure.denied' | 'disclosure.revoked' | 'device.enrolled' | 'device.renamed' | 'device.revoked' | 'device.evidence_changed' | 'root_ca.added' | 'root_ca.removed' | 'c2pa_anchor.added' | 'c2pa_anchor.removed' | 'claim.erased' | 'media.read' | 'evidence.read' | 'trace_texts.read' | 'trace_texts.erased' | 'decision_facts.read' | 'ledger.exported' | 'audit.exported' | 'signing_key.rotated' | 'signing_key.revoked'

export interface AuditEntry {
  auditEntryId: string
  at: string
  action: Open<AuditAction>
  /** null: the whole account. */
  environment: Open<Environment> | null
  actor: Actor
  /** Origin of the act. Unknown members are null; all are null for an act of the service itself or of an operator. */
  from: AuditOrigin
  requestId: string | null
  subjectId: string | null
  before: unknown | null
  /** State after the act. For a read: what was read. */
  after: unknown | null
}

export interface AuditEntryList {
  object: 'list'
  data: AuditEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface AuditOrigin {
  ip: string | null
  userAgent: string | null
}

export interface Authorization {
  /** ES256 token; present it unchanged. null only in a replay after its expiry. */
  intentToken: string | null
  jti: string
  expiresAt: string
  /** Id of the approval that the policy requires. Until people have approved, verify answers `approval_pending`. */
  approvalId?: string
  approval?: RequiredApproval
  bindings: IntentBindings
  /** What verify would answer now. The check consumes nothing, and a later verify may answer differently. */
  preflight: IntentPreflight
}

export interface AuthorizeIntentRequest {
  actionDescription: string
  /** At most 64 KiB as canonical JSON (RFC 8785) and 32 levels. */
  actionPayload: Record<string, unknown>
  agentSessionId: string
  deviceId: string
  actionType?: string | undefined
  /** Facts that rules of the policy read as `context`. `transaction_amount` and `require_biometric` have a meaning. */
  context?: Record<string, unknown> | undefined
  /** Evidence that is hashed and not stored. At most 64 KiB as canonical JSON. */
  contextEvidence?: Record<string, unknown> | string | undefined
  traceId?: string | undefined
  /** Input that a model of the service reads; the token is bound to that trace. Not with `trace_id`. */
  inferenceInput?: ReadText | undefined
  agentId?: string | undefined
  audience?: string | undefined
  /** Default: `300`. */
  ttlSeconds?: number | undefined
  /** At most 64 KiB as canonical JSON (RFC 8785) and 32 levels. */
  metadata?: Record<string, unknown> | undefined
  /** Binds the token to the person who confirmed exactly this action: see POST /v1/intent/challenges. */
  passkeyAssertion?: PasskeyAssertion | undefined
  /** The mandate to act under. Not with `schedule_id` or `order_id`. */
  mandateId?: string | undefined
  /** The schedule whose cycle this is. Not with `mandate_id` or `order_id`. */
  scheduleId?: string | undefined
  /** The order of a clinician that is to be executed, once. Not with `mandate_id` or `schedule_id`. */
  orderId?: string | undefined
  /**
   * The token can be executed once, as under a mandate, a schedule, an order or an approval. Otherwise it stays valid
   * after an execution, with `already_executed`.
   */
  singleUse?: boolean | undefined
}

export interface Batch extends BatchSummary {
  /** Lines that have ended: succeeded, failed or cancelled. At `accepted`, the batch is done. */
  settled: number
  riskHistogram: RiskHistogram
  /** Evaluations per second in the last half minute; null when there were none. */
  ratePerSecond: number | null
  estimatedFinishAt: string | null
}

export interface BatchLine {
  /** Name of this submission: sending the same content again returns the same attestation. */
  externalId?: string | undefined
  claim?: CaptureClaim | undefined
  mediaType: MediaType
  bundle?: CaptureBundle | undefined
  assertion?: string | undefined
  certificateChain?: string[] | undefined
  signature?: CaptureSignature | undefined
  media: MediaReference
}

export interface BatchResult extends Attestation {
  line: number
  /** Cursor that resumes after this line. */
  cursor: string
  isRepeat: boolean
}

export interface BatchResultsEnd {
  object: 'cursor'
  /** Cursor that continues with the first line that had not ended; null when all lines have ended. */
  nextCursor: string | null
  isComplete: boolean
}

export interface BatchSummary {
  batchId: string
  /** `cancelled`: the batch was cancelled, and all started lines have ended. */
  status: Open<WorkStatus>
  /** A line that fails says why in its own attestation. */
  failure: null
  accepted: number
  /** Accepted lines by status; their sum is `accepted`. */
  counts: WorkCounts
  rejectedCount: number
  /** Accepted lines that were submitted before: they return the same attestation. */
  repeatedCount: number
  createdAt: string
  cancelledAt: string | null
}

export interface BatchSummaryList {
  object: 'list'
  data: BatchSummary[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface BiometricGate {
  gated: boolean
  method?: BiometricMethod | undefined
}

export type BiometricMethod = 'face' | 'fingerprint' | 'passcode'

export type BudgetPeriod = 'total' | 'day' | 'week' | 'month' | 'year'

export interface BuiltinPolicyRule {
  id: string
  description: string
  priority: number
  enabled: boolean
  shadow: boolean
  when: PolicyCondition
  require: PolicyRequirement
  reason: string
}

export interface C2paAnchor {
  c2paAnchorId: string
  name: string
  certificate: PemCertificate
  createdAt: string
}

export interface C2paAnchorList {
  object: 'list'
  data: C2paAnchor[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface Canary {
  set: string
  readings: CanaryReading[]
  hash: string
  readingAt: string
  /** Runtime that computed the readings, as in their hash; null where a client sent them. */
  runtime: string | null
  trippedFamilies: string[]
}

export type CanaryCapability = 'probe' | 'classifier' | 'none'

export interface CanaryCheck {
  /** Continue only when this is true. */
  allowed: boolean
  action: Open<CheckAction>
  /** Finding of the check. Under `monitor` the session may continue nevertheless. */
  reason: Open<CheckReason> | null
  /** Why a model of the service has no reading of `inference_input`. */
  unavailableCause: Open<UnavailableCause> | null
  /** The reading is older than `max_age_s`. */
  stale: boolean
  readingAgeS: number | null
  /** `off` also for an agent that `apply_to` leaves out. */
  mode: Open<KillSwitchMode>
  trippedFamilies: string[]
  /** Families that tripped and do not count, because their probes are experimental. `allow_experimental` counts them. */
  uncountedFamilies: string[]
  /** Id of the lock in force. */
  lockId: string | null
  /** Id of the entry in the decision ledger. */
  decisionId: string
  traceId: string | null
  canaryHash: string | null
  /** Runtime that computed the readings, as in their hash; null where a client sent them. */
  runtime: string | null
}

export type CanaryMode = 'strict' | 'best_effort'

export interface CanaryProbe {
  family: string
  kind: Open<ProbeKind>
  layer: number | null
  threshold: number
  /**
   * experimental: the probe misses the bar of its family, failed a control, or trips on benign completions of the model
   * itself.
   */
  status: Open<ProbeStatus>
  /** Measurements on completions that a script wrote. */
  heldOut: HeldOutFigures
  /** Measurements on benign completions of the model itself; null: not measured. */
  generated: GeneratedRuns | null
  knownFailures: string[]
}

export interface CanaryProbeSet {
  set: string
  version: string
  families: CanaryProbe[]
}

/** `tripped` compares the score with this threshold. The kill switch may set another threshold. */
export interface CanaryReading extends JudgedCanary {
  raw: number | null
  probe_version: string | null
  layer: number | null
  aggregator: string | null
  n_tokens: number | null
  /** Status in the card of the probe. Absent from readings that a client sent. */
  probe_status?: Open<ProbeStatus>
}

export interface CancelOrderRequest {
  reason: OrderCancelReason
}

export interface CancelledBatch extends Batch {
  /** Number of lines that this call cancelled. */
  cancelled: number
}

export interface CappedCount {
  count: number
  /** true: `count` reached its maximum, and there may be more. */
  capped: boolean
}

export interface CaptureBundle {
  version: 1
  captured_at: string
  sensor_hash: string
  /** Absent where there is no fix. Otherwise lat, lng and accuracy_m are required, and mock is optional. */
  gps?: CapturePosition | null | undefined
  biometric?: BiometricGate | null | undefined
  device_id?: string | undefined
  session_nonce?: string | undefined
  video_manifest?: VideoManifest | undefined
  /** Stored as signed and not evaluated: send evidence with the enrollment of the device (POST /v1/admin/devices). */
  attestation?: CaptureEvidence | undefined
}

export interface CaptureClaim {
  /** The insurer’s claim number: attestations that share it belong to one claim. */
  reference?: string | undefined
  /** Where the loss happened. The first one of a claim stands for all of its captures. */
  lossLocation?: SentPosition | undefined
  lossAt?: string | undefined
  line?: string | undefined
}

export interface CaptureEvidence {
  format: CaptureEvidenceFormat
  chain?: string[] | undefined
  object?: string | undefined
}

export type CaptureEvidenceFormat = 'android-key' | 'apple-appattest' | 'none'

export interface CapturePosition {
  /** Degrees north, WGS 84. */
  lat: number
  /** Degrees east, WGS 84. */
  lng: number
  /** Required. Accuracy in metres that the system reports (68 % of fixes). A value above 20,000 is no fix. */
  accuracy_m: number
  /** Whether the system says that the position came from a mock provider. false when absent. */
  mock?: boolean | undefined
}

export interface CaptureSession {
  captureSessionId: string
  /** closed: it was submitted and accepts no more chunks. */
  status: Open<CaptureSessionStatus>
  deviceId: string | null
  claimReference: string | null
  issuedAt: string
  expiresAt: string
  /** The capture that used its nonce. */
  attestationId: string | null
  /** The video that was made of its chunks. */
  mediaId: string | null
  /** Content type of the first chunk. */
  contentType: Open<MediaContentType> | null
  chunkCount: number
  totalBytes: number
}

export interface CaptureSessionList {
  object: 'list'
  data: CaptureSession[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type CaptureSessionStatus = 'open' | 'closed'

export interface CaptureSignature {
  alg: 'ES256'
  value: string
}

export interface CaptureStream extends CaptureSession {
  /** The first index that has not arrived. */
  nextIndex: number
  /** Runs of indices that have arrived. */
  received: ChunkRun[]
}

export interface Case {
  caseId: string
  claimId: string
  claimReference: string | null
  /** Risk status of the claim. */
  riskStatus: Open<ClaimRiskStatus>
  /** Risk score of the claim. */
  riskScore: number | null
  status: Open<CaseStatus>
  /** Reason of the last transition. */
  reasonCode: Open<CaseReason> | null
  /** The `user_id` of a member, or the label that an API key gave. */
  assignee: string | null
  /** The e-mail address of the member, or the label. */
  assigneeLabel: string | null
  priority: Open<CasePriority>
  /** Due date of the review while the case is open, then of the decision; null once the case is closed. */
  dueAt: string | null
  overdue: boolean
  sla: CaseSla
  /** First person who named suspected_fraud. With four eyes, another person must deny the case for it. */
  fraudSuspectedBy: Actor | null
  /** Statuses that the case can change to now, for its claim and for the caller. */
  allowed: CaseOption[]
  /** Grows by one with each entry of the history. */
  version: number
  createdAt: string
  updatedAt: string
  closedAt: string | null
  /** When the claim of a closed case changed its standing after the closing. null once the case is reopened. */
  claimChangedAt: string | null
}

export interface CaseChange {
  field: string
  from: string | null
  to: string | null
}

export interface CaseCounts {
  object: 'case_counts'
  byStatus: CaseStatusCounts
}

export interface CaseEntry {
  /** Version of the case that this entry created. */
  version: number
  kind: Open<CaseEntryKind>
  at: string
  by: Actor
  from: Open<CaseStatus> | null
  to: Open<CaseStatus> | null
  reasonCode: Open<CaseReason> | null
  note: string | null
  /** When the note was erased with its claim. */
  noteErasedAt: string | null
  changes: CaseChange[]
}

export type CaseEntryKind = 'opened' | 'escalated' | 'proposed' | 'transitioned' | 'noted' | 'changed'

export interface CaseEntryList {
  object: 'list'
  data: CaseEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface CaseList {
  object: 'list'
  data: Case[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface CaseOption {
  to: Open<CaseStatus>
  /** Allowed reason codes: give one of them; empty: give none. */
  reasonCodes: Open<CaseReason>[]
  /** true: a note is required whatever the reason. The reason `other` always needs a note. */
  needsNote: boolean
  /** The case has no assignee: an API key names an assignee; a session that names none assigns its own user. */
  needsAssignee: boolean
  /** `suspected_fraud` takes two persons: the first proposes it. */
  needsSecondPerson: boolean
}

export type CaseOrder = 'created' | 'due'

export interface CaseOutcomeCounts {
  /** Denied with the reason `suspected_fraud` or `signature_invalid`. */
  fraud: number
  /** Approved. */
  legitimate: number
  /** Denied for another reason, withdrawn or closed undecided. */
  other: number
}

export type CasePriority = 'low' | 'normal' | 'high' | 'urgent'

export type CaseReason = 'provenance_verified' | 'risk_accepted' | 'signature_invalid' | 'suspected_fraud' | 'insufficient_evidence' | 'policyholder_withdrew' | 'other'

export interface CaseSla {
  reviewDueAt: string
  /** Due date of the decision. While the case is paused: the date if the pause ended now. */
  decisionDueAt: string
  pausedAt: string | null
}

export type CaseStatus = 'open' | 'in_review' | 'info_requested' | 'escalated' | 'approved' | 'denied' | 'withdrawn' | 'closed_undecided'

export interface CaseStatusChangedData {
  case_id: string
  claim_id: string
  from: Open<CaseStatus>
  to: Open<CaseStatus>
  reason_code: Open<CaseReason> | null
  note_present: boolean
  actor: Actor
}

export interface CaseStatusChangedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'case.status_changed'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: CaseStatusChangedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface CaseStatusCounts {
  open: number
  inReview: number
  infoRequested: number
  escalated: number
  approved: number
  denied: number
  withdrawn: number
  closedUndecided: number
}

export interface Certificate {
  subject: string
  serial: string
  notBefore: string
  notAfter: string
  fingerprint: string
}

export interface CertificateVerbatim {
  subject: string
  serial: string
  not_before: string
  not_after: string
  fingerprint: string
}

export interface Challenge {
  challengeId: string
  challenge: string
  expiresAt: string
}

export interface Change {
  /** The product or area, such as Attest or Operate. */
  section: string
  /** Markdown. */
  text: string
}

export interface ChangeUserRoleRequest {
  role: Role
}

export interface ChangedToken {
  token: number
  text: string
  before: TokenLogit
  after: TokenLogit
  /** Change of the logit in the frozen model, less the mean change of these tokens, which changes no probability. */
  predictedChange: number
  measuredChange: number
}

export interface ChangelogVersion {
  /** Version such as 1.2.0; `unreleased` for changes that no version has yet. */
  version: string
  /** Release date; null: not released. */
  date: string | null
  changes: Change[]
}

export interface ChangelogVersionList {
  object: 'list'
  data: ChangelogVersion[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ChatMessage {
  role: ChatRole
  content: string
}

export type ChatRole = 'system' | 'user' | 'tool' | 'assistant'

export type CheckAction = 'allow' | 'block'

export interface CheckCanariesRequest {
  /** Trace whose stored readings are checked. */
  traceId?: string | undefined
  /** Readings of a model of your own, with `reading_at` and `canary_set`. */
  readings?: ClientCanaryReading[] | undefined
  readingAt?: string | undefined
  /** Set of probes that made the readings. */
  canarySet?: string | undefined
  /** Input that a model of the service reads within 5 seconds. Otherwise the answer is `canary_unavailable`. */
  inferenceInput?: ReadText | undefined
  agentId?: string | undefined
  /** An id of this service, or a name of your own. */
  agentSessionId?: string | undefined
}

/** Default: `{"from":0,"limit":10000}`. */
export interface CheckLedgerRequest {
  /** The first position: `next` of the previous part. Default: `0`. */
  from?: number | undefined
  /** Number of leaves in this part. Default: `10000`. */
  limit?: number | undefined
}

export type CheckReason = 'session_canary_locked' | 'canary_unavailable' | 'reading_too_old' | 'canary_tripped'

export interface Chunk {
  captureSessionId: string
  index: number
  sha256: string
  bytes: number
  /** Arrival by the server’s clock. A chunk that is sent again keeps the time of its first arrival. */
  arrivedAt: string
}

export interface ChunkRun {
  first: number
  last: number
}

export interface Claim {
  claimId: string
  reference: string | null
  line: string | null
  lossLocation: Position | null
  lossAt: string | null
  riskStatus: Open<ClaimRiskStatus>
  riskScore: number | null
  provenanceStatus: Open<ProvenanceStatus> | null
  factorCodes: Open<FactorCode>[]
  advisoryCodes: Open<AdvisoryCode>[]
  /** The open case of the claim. */
  caseId: string | null
  createdAt: string
  updatedAt: string
  erasedAt: string | null
}

export interface ClaimAnalytics {
  /** Start of the period that was read. */
  from: string
  /** End of the period that was read, exclusive. */
  to: string
  /** Every day of the period, oldest first. */
  days: ClaimDay[]
}

export interface ClaimDay {
  /** Day in UTC. */
  day: string
  total: number
  pending: number
  passed: number
  review: number
  failed: number
}

export interface ClaimEscalatedData {
  claim_id: string
  risk_score: number
  factor_codes: Open<FactorCode>[]
  case_id?: string
}

export interface ClaimEscalatedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'claim.escalated'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: ClaimEscalatedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface ClaimList {
  object: 'list'
  data: Claim[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ClaimMoment {
  at: string
  kind: Open<ClaimMomentKind>
  /** Id of the claim, attestation, case or screening that the entry is about. */
  subjectId: string
  /** Who acted, in entries of cases; null in other entries. */
  by: Actor | null
  /** Details by kind: the data of the event, the result, or the change of the case. The case has the notes. */
  details: Record<string, unknown>
}

export type ClaimMomentKind = 'claim.created' | 'attestation.accepted' | 'attestation.evaluated' | 'claim.provenance_updated' | 'claim.escalated' | 'screening.completed' | 'case.opened' | 'case.escalated' | 'case.proposed' | 'case.transitioned' | 'case.noted' | 'case.changed' | 'claim.erased'

export interface ClaimMomentList {
  object: 'list'
  data: ClaimMoment[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ClaimOrder = 'created' | 'score' | 'updated'

export interface ClaimProvenanceUpdatedData {
  claim_id: string
  previous: ClaimStanding
  current: ClaimStanding
  added_factors: Open<FactorCode>[]
  removed_factors: Open<FactorCode>[]
}

export interface ClaimProvenanceUpdatedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'claim.provenance_updated'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: ClaimProvenanceUpdatedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export type ClaimRiskStatus = 'pending' | 'passed' | 'review' | 'failed'

export interface ClaimStanding {
  provenance_status: Open<ProvenanceStatus> | null
  risk_status: Open<ClaimRiskStatus>
  risk_score: number | null
}

export interface ClearSessionLockRequest {
  note?: string | undefined
}

export interface ClearedLock {
  lockId: string
  status: 'cleared'
  agentUnsuspended: boolean
}

export interface ClientCanaryReading {
  family: string
  score: number
  /** Default: `0.5`. */
  threshold?: number | undefined
  /** Value before it was converted to a score. */
  raw?: number | null | undefined
  probeVersion?: string | null | undefined
  layer?: number | null | undefined
  aggregator?: string | null | undefined
  nTokens?: number | null | undefined
}

export interface ClinicalFormulary {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  /** Number of concepts. */
  entries: number
}

export interface ClinicalPolicy {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  document: ClinicalPolicyDocument
  warnings: Open<ClinicalPolicyWarning>[]
}

export interface ClinicalPolicyDocument {
  schedules: ClinicalRules
  /** Orders are authorized although an exclusion list is missing or outdated. Default: `false`. */
  allow_stale?: boolean
}

export interface ClinicalPolicyList {
  object: 'list'
  data: ClinicalPolicy[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** cosigner_unavailable: the policy asks for a co-signature, and the plan of the account has no second user. */
export type ClinicalPolicyWarning = 'cosigner_unavailable'

export interface ClinicalRule {
  /** No order of this schedule is authorized. Default: `false`. */
  deny?: boolean
  /** Tier that the prescriber, and a co-signer, must have. */
  tier: PrescriberTier
  /** The prescriber signs with a passkey. */
  passkey: boolean
  /** A second prescriber has to co-sign. */
  cosign: boolean
  max_refills: number
  /** Days after its authorization during which an order may be executed; null: no limit of its own. */
  validity_days: number | null
}

export interface ClinicalRuleOfSixMonths {
  /** No order of this schedule is authorized. Default: `false`. */
  deny?: boolean
  /** Tier that the prescriber, and a co-signer, must have. */
  tier: PrescriberTier
  /** The prescriber signs with a passkey. */
  passkey: boolean
  /** A second prescriber has to co-sign. */
  cosign: boolean
  max_refills: number
  /** Days after its authorization during which an order may be executed; null: no limit of its own. */
  validity_days: number | null
}

export interface ClinicalRuleWithoutRefills {
  /** No order of this schedule is authorized. Default: `false`. */
  deny?: boolean
  /** Tier that the prescriber, and a co-signer, must have. */
  tier: PrescriberTier
  /** The prescriber signs with a passkey. */
  passkey: boolean
  /** A second prescriber has to co-sign. */
  cosign: boolean
  max_refills: number
  /** Days after its authorization during which an order may be executed; null: no limit of its own. */
  validity_days: number | null
}

export interface ClinicalRules {
  none: ClinicalRule
  I: ClinicalRuleWithoutRefills
  II: ClinicalRuleWithoutRefills
  III: ClinicalRuleOfSixMonths
  IV: ClinicalRuleOfSixMonths
  V: ClinicalRule
}

export interface CloseAccountRequest {
  /** The name or the id of the account. */
  confirm: string
}

export interface ConfirmPrescriberFactsRequest {
  /** Facts of the prescriber whose status is entered: all of them are confirmed, or none. */
  factIds: string[]
  passkeyAssertion: PasskeyAssertion
}

export interface ConfirmedPrescriberFacts {
  prescriberId: string
  tier: PrescriberTier
  facts: PrescriberFact[]
}

export type ControlledSchedule = 'I' | 'II' | 'III' | 'IV' | 'V'

export interface CosignOrderRequest {
  passkeyAssertion: PasskeyAssertion
}

/** verify: a relying party asked whether an action may run; execute: a token was used for its action. */
export type CountedDecisionKind = 'verify' | 'execute'

export interface CreateAgentRequest {
  name: string
  /** Who answers for the agent: an e-mail address, a team, an id. */
  owner: string
  /** P-256 or Ed25519 key as JWK. */
  publicKey?: AgentPublicKey | null | undefined
  metadata?: Record<string, unknown> | undefined
}

export interface CreateApiKeyRequest {
  name: string
  scopes: GrantableScope[]
  /**
   * Environment of the key: the same as the calling key’s. A session may choose; when absent, Service-Environment
   * applies.
   */
  environment?: Environment | undefined
  expiresAt?: string | undefined
  /** Addresses and ranges from which the key is accepted: `203.0.113.7`, `2001:db8::/32`. */
  ipAllow?: string[] | undefined
  /** Narrows the key to the routes of these products. When absent, the key gets the products of the calling key. */
  products?: Product[] | undefined
  /**
   * The key only reads, within its scopes, and changes nothing except the positions of its event consumers. `false` when
   * absent.
   */
  readOnly?: boolean | undefined
}

export interface CreateAttributionJobRequest {
  traceId: string
  /** Default: `{"position":0}`. */
  target?: AttributionTarget | undefined
  /** `exact` when absent; `grad_x_act` and `ablation` are approximate. */
  method?: AttributionMethod | undefined
  /** Default: `512`. */
  maxFeatureNodes?: number | undefined
  /** Default: `10`. */
  maxNLogits?: number | undefined
  /** Logits are explained until their tokens together have this probability. Default: `0.95`. */
  desiredLogitProb?: number | undefined
  /** The share of the influence that the kept nodes have. Default: `0.8`. */
  nodeThreshold?: number | undefined
  /** Default: `0.98`. */
  edgeThreshold?: number | undefined
  /** Input of the inference: required where the trace keeps only hashes, and always compared with `prompt_hash`. */
  input?: RepeatedPrompt | undefined
}

export interface CreateC2paAnchorRequest {
  name: string
  /** Certificate as PEM, or base64 of DER. */
  certificate: string
}

export interface CreateCaptureSessionsRequest {
  count: number
  /** The only device that may use the nonces. */
  deviceId?: string | undefined
  /** The insurer’s claim number: only submissions of that claim may use the nonces. */
  claimReference?: string | undefined
}

export interface CreateChallengesRequest {
  count: number
}

export interface CreateEvalSetRequest {
  name: string
  prompts: EvalPrompt[]
}

export interface CreateInferenceRequest {
  /** Id of GET /v1/trace/models; the default model when absent. */
  model?: string | undefined
  /** Message of a user; for a model that takes no conversations, a text that it continues. */
  prompt?: string | undefined
  /** A conversation, in place of `prompt`. */
  messages?: ChatMessage[] | undefined
  /** Default: `64`. */
  maxTokens?: number | undefined
  /** 0 always takes the most likely token. Default: `0`. */
  temperature?: number | undefined
  /** Seed of the sampling; random when absent. */
  seed?: number | undefined
  /** Requires readings by this set of probes. When absent, readings are taken where the model has probes. */
  canarySet?: string | undefined
  agentId?: string | undefined
  /** An id of this service, or a name of your own. */
  agentSessionId?: string | undefined
  /** The account’s kill switch applies, and no request can weaken it. Default: `inherit`. */
  killSwitch?: 'inherit' | undefined
  /** text: prompt and completion are kept for 30 days, and no longer than the trace, sealed. Default: `hash`. */
  retain?: TextRetention | undefined
}

export interface CreateMandateRequest {
  /** Party for whom the agent acts: a person, a team, an id. */
  principal: string
  /** Only tokens of this agent may name the mandate. When absent, any agent may. */
  agentId?: string | undefined
  description: string
  /** Time zone of the periods of the budget and of the window. Default: `UTC`. */
  timezone?: string | undefined
  constraints?: RequestedMandateConstraints | undefined
  budget?: RequestedMandateBudget | undefined
  /** No action may run before this time; when absent, actions may run from the grant on. */
  notBefore?: string | undefined
  /** Payment instruments that actions may name; any when absent. */
  instruments?: string[] | undefined
  /** Pointers to the compared values in `action_payload`. Without a pointer, the member of the same name is compared. */
  payloadPointers?: MandatePayloadPointers | undefined
  /** End of the mandate, in the future and at most 366 days from now. */
  expiresAt: string
  heartbeat?: RequestedMandateHeartbeat | undefined
  /** The mandate within which it is granted. */
  parentId?: string | undefined
}

export interface CreateOrderChallengeRequest {
  act: SignatureAct
}

export interface CreateOrderRequest {
  prescriberId: string
  /** Your reference of the patient, such as `Patient/123`. Sealed at rest. */
  patientRef: string
  /** Default: `null`. */
  encounterRef?: string | null | undefined
  medication: OrderedMedicationRequest
  quantity: OrderedQuantityRequest
  refills: number
  /** Directions for use. */
  sig: string
  /** State where it is dispensed: an exclusion of the LEIE that is waived there does not count. Default: `null`. */
  usState?: UsState | null | undefined
  /** Default: `null`. */
  actionPayload?: Record<string, unknown> | null | undefined
}

export interface CreatePasskeyChallengeRequest {
  actionDescription: string
  /** At most 64 KiB as canonical JSON (RFC 8785) and 32 levels. */
  actionPayload: Record<string, unknown>
  agentSessionId: string
  deviceId: string
}

export interface CreatePrescriberFactChallengeRequest {
  /** Facts of the prescriber whose status is entered: all of them are confirmed, or none. */
  factIds: string[]
}

export type CreatePrescriberFactRequest = IdentityFactRequest | LicenceFactRequest | DeaFactRequest

export interface CreatePrescriberRequest {
  /** Member of the account whose passkeys sign. A user is one prescriber at most. */
  userId: string
  /** National Provider Identifier. When its check digit is wrong, the error says what the last digit would be. */
  npi: string
  first: string
  last: string
  /** Birth date. Without one, entries of the LEIE that have the name are reviewed and never matched. Default: `null`. */
  dob?: string | null | undefined
  /** Facts of the kind licence, entered with the prescriber. Default: `[]`. */
  stateLicenses?: StateLicense[] | undefined
  /** A fact of the kind dea. */
  dea?: DeaRegistration | undefined
}

export interface CreateRootCaRequest {
  name: string
  /** Certificate as PEM, or base64 of DER. */
  certificate: string
}

export interface CreateScheduleRequest {
  /** Compared exactly with the counterparty of an action. */
  counterparty: string
  amount: RequestedScheduleAmount
  /** One of `daily`, `weekly`, `monthly`, `quarterly` and `yearly`, or a recurrence rule of RFC 5545. */
  frequency: string
  /** The first occurrence: its date and time of day in `timezone`. */
  anchorAt: string
  /** A zone of the IANA database, such as Europe/Berlin. */
  timezone: string
  /**
   * Seconds after its beginning during which a cycle can be executed; at most until the next cycle begins. Default:
   * `86400`.
   */
  windowSeconds?: number | undefined
  /** How many cycles can be executed. */
  occurrences: number
  /** Whether a cycle that was not executed counts as one of the occurrences. Default: `false`. */
  consumeMissed?: boolean | undefined
}

export interface CreateTraceDiffRequest {
  /** The known version. */
  baseModel: string
  /** The version to judge. */
  targetModel: string
  /** `default`, or the id of a set. */
  evalSet?: string | undefined
  thresholds?: DiffThresholdsRequest | undefined
  /** Seed of the bootstrap. When absent, a random seed is used and shown. */
  seed?: number | undefined
}

export interface CreateTraceShareRequest {
  /** Name for people of the account. */
  name?: string | undefined
  traceId: string
  /** Shares the graph of this attribution job of the trace. */
  jobId?: string | undefined
  /** model_version: the neurons are masked in every share of the model version. Default: `trace`. */
  scopeKind?: ShareScope | undefined
  /** Default: `[]`. */
  maskedNodeIds?: string[] | undefined
  /** Masks neurons that any member of the rule selects, beside `masked_node_ids`. */
  maskRule?: WantedMaskRule | undefined
  /** Facts about the place of a masked neuron that are shown. Default: `[]`. */
  reveal?: RevealedPlace[] | undefined
  /**
   * Shows single positions of the text too. A person who has the file of the model can find the prompt from them.
   * Default: `false`.
   */
  revealsPrompt?: boolean | undefined
  expiresAt: string
  /** auto: everybody who verifies an address sees the masked neurons, for a day. Default: `manual`. */
  disclosureMode?: DisclosureMode | undefined
}

export interface CreateWebhookEndpointRequest {
  url: string
  eventTypes: EventSubscription[]
  /** Description for people. */
  description?: string | undefined
  /** Your own names and values. The object replaces the stored one. */
  metadata?: Record<string, string> | undefined
  /** Most deliveries per second; null: no limit of the endpoint. */
  maxPerSecond?: number | null | undefined
  /** Most concurrent deliveries. */
  maxConcurrency?: number | undefined
}

export interface CreatedApiKey extends ApiKey {
  /** The raw key: shown now and never again. */
  key?: string
  /** A replay of the request, without the raw key. */
  secretShown?: false
}

export interface CreatedScimToken extends ScimToken {
  /** Shown once. */
  token?: string
  /** A replay of the request, without the token. */
  secretShown?: false
}

export interface CreatedTraceShare extends TraceShare {
  /** Token of the share, in this answer only. */
  token?: string
  /** Page that shows the share. The token is in the fragment. */
  url?: string
  /** A replay of the creation, without the token. */
  secretShown?: false
}

export interface CreatedWebhookEndpoint extends WebhookEndpoint {
  /** Shown now and never again. */
  signingSecret?: string
  /** A replay, without the secret. */
  secretShown?: false
}

export interface Credential {
  type: Open<CredentialType>
  account: SessionAccount
  /** Environment of the key. For a session: the one that Service-Environment names, or sandbox. */
  environment: Open<Environment>
  /** null: the credential is a session. */
  apiKeyId: string | null
  /** null: the credential is a session, and its `permissions` apply. */
  scopes: Open<GrantableScope>[] | null
  /** The products to which a key is narrowed; null: every product. */
  products: Open<Product>[] | null
  /** The key changes nothing except the positions of its event consumers. */
  readOnly: boolean
  /** null: the credential is a key. */
  session: Session | null
}

export type CredentialType = 'key' | 'session'

export interface CurrentScheduleCycle extends ScheduleCycle {
  /** Token that executed the cycle; null: none has. */
  jti: string | null
}

export interface DeaFactRequest {
  kind: 'dea'
  /** DEA registration number of a prescriber. */
  number: string
  /** Schedules that the registration covers. */
  schedules: ControlledSchedule[]
  expiresAt: string
}

export interface DeaRegistration {
  /** DEA registration number of a prescriber. */
  number: string
  /** Schedules that the registration covers. */
  schedules: ControlledSchedule[]
  expiresAt: string
}

export interface DecideExclusionReviewRequest {
  decision: ExclusionDecision
  reason: ExclusionReviewReason
}

export interface Decision {
  decisionId: string
  kind: Open<DecisionKind>
  environment: Open<Environment>
  at: string
  actor: Actor
  /** Id of the subject of the decision. */
  subjectId: string | null
  reason: string | null
  /** null: neither a permission nor a refusal. */
  valid: boolean | null
  jti: string | null
  agentId: string | null
  agentSessionId: string | null
  deviceId: string | null
  mandateId: string | null
  scheduleId: string | null
  traceId: string | null
  /** The rule of the policy that gave the answer. */
  matchedRuleId: string | null
  policyVersion: number | null
  /** Entry as the ledger stores it. */
  entry: DecisionEntry
  /** SHA-256 of the canonical JSON (RFC 8785) of `entry`. */
  entryHash: string
  /** Position of the leaf in the log; null for about a second. */
  position: number | null
}

export interface DecisionAnalytics {
  /** Start of the period that was read. */
  from: string
  /** End of the period that was read, exclusive. */
  to: string
  total: number
  /** Counts by day, oldest first, then by kind and number. Counts of 0 are left out. */
  counts: DecisionCount[]
}

export interface DecisionCount {
  /** Day in UTC. */
  day: string
  kind: Open<CountedDecisionKind>
  /** A reason of verify, or a policy rule’s own reason; null: the action may run. */
  reason: string | null
  decisions: number
}

export interface DecisionEntry {
  decision_id: string
  kind: Open<DecisionKind>
  environment: Open<Environment>
  at: string
  actor: 'service' | DecisionEntryActor
  /** Id of the subject of the decision. */
  subject_id: string | null
  reason: string | null
  /** null: neither a permission nor a refusal. */
  valid: boolean | null
  /** Hashes and ids of the inputs. */
  inputs: Record<string, string | null>
  /** The rule of the policy that gave the answer. */
  matched_rule_id: string | null
  policy_version: number | null
  /**
   * Results of rules that decide and of shadow rules, at most 100 of each: first the rule that gave the answer, then
   * rules that refused, then the others.
   */
  rule_results: PolicyRuleResultVerbatim[]
  /** Number of results that are left out; absent when none is. `replay.rules` of the explanation has the first 1,000. */
  rule_results_omitted?: number
  facts_hash: string | null
}

export interface DecisionEntryActor {
  /** Id of the API key or user. */
  actor_id: string
  /** The user of a session; with a key, the person whom its caller named. */
  person: string | null
  api_key_id: string | null
}

export interface DecisionExplanation {
  decision: Decision
  /** What decisions of this kind record. */
  meaning: string
  /** Whether the hash of the entry is correct. */
  entryIntact: boolean
  factsStatus: Open<DecisionFactsStatus>
  facts: unknown | null
  /** null: decisions of this kind are not repeated, or the facts are not intact. */
  replay: unknown | null
  /** Whether the facts lead to the recorded answer again. */
  sameAnswer: boolean | null
  /** Members whose value differs. */
  differences: string[]
}

export type DecisionFactsStatus = 'intact' | 'changed' | 'none'

export type DecisionKind = 'authorize' | 'verify' | 'execute' | 'outcome' | 'approval' | 'approval_decision' | 'policy_change' | 'policy_shadow' | 'webhook_decision' | 'trace_check' | 'inference' | 'lock' | 'lock_clear' | 'agent_suspend' | 'agent_unsuspend' | 'revocation' | 'stop' | 'resume' | 'mandate_change' | 'mandate_heartbeat' | 'schedule_change' | 'clinician_order' | 'disclosure'

export interface DecisionList {
  object: 'list'
  data: Decision[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface DeclineOrderRequest {
  reason: DeclineReason
}

export type DeclineReason = 'dose' | 'interaction' | 'indication' | 'duplicate' | 'identity' | 'other'

export interface DeletedC2paAnchor {
  c2paAnchorId: string
  deleted: true
}

export interface DeletedEvalSet {
  evalSetId: string
  deleted: true
}

export interface DeletedEventConsumer {
  /** Name of the consumer. */
  eventConsumerId: string
  deleted: true
}

export interface DeletedPasskey {
  passkeyId: string
  deleted: true
}

export interface DeletedRootCa {
  rootCaId: string
  deleted: true
}

export interface DeletedSsoConfig {
  ssoConfigId: string
  deleted: true
}

export interface DeletedWebhookEndpoint {
  webhookEndpointId: string
  deleted: true
}

export interface Delivery {
  deliveryId: string
  webhookEndpointId: string
  eventId: string
  eventType: Open<EventType>
  status: Open<DeliveryStatus>
  createdAt: string
  /** Time of the next attempt; later while the circuit of the endpoint is open. */
  nextAttemptAt: string | null
  deliveredAt: string | null
  failedAt: string | null
  attempts: DeliveryAttempt[]
}

export interface DeliveryAnswer {
  headers: Record<string, string>
  /** The first 16 KiB of the body: text, or base64 where it is no UTF-8. */
  body: string
  bodyEncoding: Open<DeliveryBodyEncoding>
  /** true: headers, or the rest of the body, were left out. */
  isTruncated: boolean
}

export interface DeliveryAttempt {
  attempt: number
  startedAt: string
  /** End of the attempt; null: it is running, or its process ended before the answer. */
  finishedAt: string | null
  responseStatus: number | null
  error: string | null
  /** Detail for people: the address that was refused, the problem of the certificate. */
  errorDetail: string | null
  durationMs: number | null
  timing: DeliveryTiming | null
}

export type DeliveryBodyEncoding = 'utf8' | 'base64'

/** Request as sent, with its signatures. The body is in the delivery. */
export interface DeliveryCall {
  url: string
  headers: Record<string, string>
}

export interface DeliveryLine {
  deliveryId: string
  webhookEndpointId: string
  eventId: string
  eventType: Open<EventType>
  status: Open<DeliveryStatus>
  createdAt: string
  /** Time of the next attempt; later while the circuit of the endpoint is open. */
  nextAttemptAt: string | null
  deliveredAt: string | null
  failedAt: string | null
  attempts: FullDeliveryAttempt[]
}

export interface DeliveryList {
  object: 'list'
  data: Delivery[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** failed: all attempts failed. cancelled: the endpoint was disabled or deleted. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

export interface DeliveryTiming {
  /** Time of the DNS lookup; null: the URL names an address. */
  dnsMs: number | null
  /** Time to connect; null, like `tls_ms`: an open connection was reused. */
  connectMs: number | null
  /** Time of the TLS handshake. */
  tlsMs: number | null
  /** Time from the request to the head of the answer. */
  firstByteMs: number | null
}

export interface DenyActionRequest {
  /** For people. */
  reason: string
  /** Person for whom an API key decides. Required with a key, and not for sessions. */
  approver?: NamedApprover | undefined
}

export interface Device {
  deviceId: string
  name: string | null
  status: Open<DeviceStatus>
  hardwareTier: Open<HardwareTier>
  hardware: Hardware | null
  certificate: Certificate
  spkiSha256: string
  enrolledAt: string
  /** When the certificate expires. From then on the device counts as not enrolled. */
  expiresAt: string
  revokedAt: string | null
  revokeEffectiveAt: string | null
  revokeReason: string | null
}

export interface DeviceBatch {
  object: 'device_batch'
  accepted: number
  rejected: RejectedLine[]
  devices: EnrolledLine[]
}

export interface DeviceCounts {
  object: 'device_counts'
  total: number
  byStatus: DeviceStatusCounts
  /** Enrolled devices whose certificate expires within 30 days. */
  expiringSoon: number
  /** All devices by their current tier, which takes the list of revoked keys into account. */
  byHardwareTier: Record<string, number>
}

export interface DeviceEntry {
  kind: Open<DeviceEntryKind>
  at: string
  by: Actor
  reason: string | null
  detail: Record<string, unknown>
}

export type DeviceEntryKind = 'enrolled' | 'renewed' | 'attested' | 'revoked'

export interface DeviceEntryList {
  object: 'list'
  data: DeviceEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface DeviceEvidence {
  deviceId: string
  attestation: HardwareEvidence
}

export interface DeviceList {
  object: 'list'
  data: Device[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type DeviceOrder = 'created' | 'expires'

export interface DeviceRefresh {
  object: 'device_refresh'
  accepted: number
  rejected: RejectedLine[]
  devices: RefreshedLine[]
}

export type DeviceStatus = 'enrolled' | 'expired' | 'revoked'

export interface DeviceStatusCounts {
  enrolled: number
  expired: number
  revoked: number
}

export interface DiffEvalSet {
  name: string
  sha256: string
  prompts: number
  used: number
  skipped: number
}

export interface DiffFamily {
  family: string
  prompts: number
  base_mean: number
  target_mean: number
  /** The population stability index over ten bins of equal width. */
  psi: number
  /**
   * Number of scores of each version in the bins of `psi`: the first bin is from `edges[0]` up to `edges[1]`, and the
   * last includes its upper edge. Absent in reports of version 1.
   */
  bins?: ScoreBins
  ks: KolmogorovSmirnov
  /** Shift of the score, target minus base, with the 95 % interval of a bootstrap over prompts. */
  shift: MeanShift
  /** Status in the cards of the probes. */
  status: DiffProbeStatuses
  verdict: Open<DiffVerdict>
}

export interface DiffModel {
  model: string
  model_version_id: string
  sha256: string
  architecture: string
  probe_set: string
  probe_version: string
  vocabulary_sha256: string
}

export interface DiffProbeStatuses {
  base: string
  target: string
}

export interface DiffProgress {
  done: number
  total: number
}

export interface DiffSettings {
  seed: number
  max_tokens: number
  min_prompts: number
  psi_bins: number
  resamples: number
  confidence: number
  thresholds: DiffThresholdsVerbatim
}

export interface DiffThresholds {
  /** An index of at least this value is drift, if the test is significant too. */
  psiDrift: number
  /** Level of the test, for all families together (Holm). */
  ksAlpha: number
  /** An index of at least this value is a warning. */
  psiWarn: number
  /** A shift is drift where its whole interval is further from 0 than this value. */
  meanShift: number
}

export interface DiffThresholdsVerbatim {
  /** An index of at least this value is drift, if the test is significant too. */
  psi_drift: number
  /** Level of the test, for all families together (Holm). */
  ks_alpha: number
  /** An index of at least this value is a warning. */
  psi_warn: number
  /** A shift is drift where its whole interval is further from 0 than this value. */
  mean_shift: number
}

/** Default: `{}`. */
export interface DiffThresholdsRequest {
  psiDrift?: number | undefined
  ksAlpha?: number | undefined
  psiWarn?: number | undefined
  meanShift?: number | undefined
}

export type DiffVerdict = 'pass' | 'warn' | 'drift' | 'inconclusive'

export type DisclosureMode = 'manual' | 'auto'

export interface DisclosureRequest {
  requestId: string
  status: Open<DisclosureStatus>
  shareId: string
  traceId: string
  modelVersionId: string | null
  scopeKind: Open<ShareScope>
  /** Neurons that a grant shows. */
  maskedNodeIds: string[]
  /** Verified address; null once it is erased, 30 days after the end. */
  email: string | null
  purpose: string | null
  createdAt: string
  verifiedAt: string | null
  decidedAt: string | null
  /**
   * Who decided; the service where the share has the mode `auto`. Revoking the share does not change this value, because
   * that decides no request.
   */
  decidedBy: Actor | null
  expiresAt: string
}

export interface DisclosureRequestList {
  object: 'list'
  data: DisclosureRequest[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type DisclosureStatus = 'unverified' | 'pending' | 'granted' | 'denied' | 'revoked' | 'expired'

export type DownloadBatchResultsResponseLine = BatchResult | BatchResultsEnd

/** Schedule of 21 CFR 1308; none: not a controlled substance. */
export type DrugSchedule = 'I' | 'II' | 'III' | 'IV' | 'V' | 'none'

export interface DryRunRiskPolicyRequest {
  document: RiskPolicyDocument
  /** Claims created at or after this time. */
  createdGte?: string | undefined
  /** Claims created before this time. */
  createdLt?: string | undefined
  /** Maximum number of changed claims in the answer. Default: `100`. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

export interface DueScheduleCycle extends ScheduleCycle {
  scheduleId: string
  counterparty: string
  /**
   * missed: the window has closed. open: the cycle can be executed now, unless the schedule is paused. cancelled: the
   * schedule was cancelled before the window closed.
   */
  status: Open<ScheduleCycleStatus>
  /** Token that executed the cycle. */
  jti: string | null
  /** Decimal amount of the execution. */
  amount: string | null
  currency: string
  executedAt: string | null
}

export interface DueScheduleCycleList {
  object: 'list'
  data: DueScheduleCycle[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface DuplicateFindings {
  attestationId: string
  mediaId: string
  /** pending: the picture is not compared yet, or is compared anew because an earlier result came late. */
  status: Open<DuplicateStatus>
  /** Why there is no perceptual hash; identical bytes are found without a hash. */
  notComparable: string | null
  /** Earlier claims with the same or a similar picture, nearest first: ten of each kind. */
  earlier: DuplicateMatch[]
  /** Number of earlier claims that are not listed. */
  earlierMore: number
  /** Claims that showed the picture later and name this attestation, oldest first, ten at most. */
  later: DuplicateMatch[]
}

export interface DuplicateFindingsList {
  object: 'list'
  data: DuplicateFindings[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type DuplicateKind = 'duplicate_media' | 'similar_media'

export interface DuplicateMatch {
  claimId: string
  attestationId: string
  mediaId: string
  kind: Open<DuplicateKind>
  /** Differing bits of 64; 0 for identical bytes too. */
  distanceBits: number
}

export type DuplicateStatus = 'pending' | 'compared' | 'not_comparable'

export interface DurationQuantiles {
  p50: number | null
  p99: number | null
}

export interface Ed25519PublicKey {
  kty: 'OKP'
  crv: 'Ed25519'
  x: string
}

export interface EditedNeuron {
  nodeId: string
  factor: number
  activationBefore: number
  activationAfter: number
}

export interface EndPrescriberFactRequest {
  reason: GivenFactEndReason
}

export interface EndedSession {
  sessionId: string
  ended: true
}

export interface EndedSessions {
  ended: number
}

export interface EnrollDeviceRequest {
  name?: string | undefined
  certificateChain: string[]
  /** Evidence of the key’s hardware. */
  attestation?: HardwareEvidence | undefined
}

export interface EnrolledLine {
  line: number
  deviceId: string
}

export type Environment = 'sandbox' | 'live'

export interface EvalPrompt {
  messages: ChatMessage[]
}

export interface EvalSet {
  evalSetId: string
  name: string
  prompts: number
  /** SHA-256 of the prompts’ canonical JSON (RFC 8785), in hexadecimal. */
  sha256: string
  createdBy: Actor
  createdAt: string
}

export interface EvalSetList {
  object: 'list'
  data: EvalSet[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** `type` determines the shape of `data`. New types may be added. */
export type Event = AttestationCreatedEvent | ClaimProvenanceUpdatedEvent | ClaimEscalatedEvent | CaseStatusChangedEvent | ScreeningCompletedEvent | TraceJobCompletedEvent | TraceCanaryTrippedEvent | TraceDiffCompletedEvent | TraceDisclosureRequestedEvent | TraceDisclosureGrantedEvent | ApprovalRequestedEvent | ApprovalResolvedEvent | IntentRevokedEvent | PingEvent

export interface EventConsumer {
  name: string
  position: number
  /** The position of the newest event. */
  latest: number
  /** Number of stored events after the position. */
  lag: number
  /** Number of events after the position that were deleted after 30 days. */
  missed: number
  oldestUnreadCreatedAt: string | null
  createdAt: string
  /** When the position was last reported. */
  acknowledgedAt: string | null
  /** Counts the reports of its position. The `ETag` has it. */
  version: number
}

export interface EventConsumerList {
  object: 'list'
  data: EventConsumer[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface EventDetector {
  name: string
  version: string
}

export interface EventList {
  object: 'list'
  data: Event[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface EventPull {
  object: 'event_pull'
  data: Event[]
  /** Whether there are further events after these. */
  hasMore: boolean
  /** Position after which the events were read: send it as `expected_position` of the report. */
  after: number
  /** `after` of the next request. */
  nextAfter: number
  /** The position of the newest event, of any type. */
  latest: number
}

export type EventSubscription = 'attestation.created' | 'claim.provenance_updated' | 'claim.escalated' | 'case.status_changed' | 'screening.completed' | 'approval.requested' | 'approval.resolved' | 'intent.revoked' | 'trace.job_completed' | 'trace.canary_tripped' | 'trace.diff_completed' | 'trace.disclosure_requested' | 'trace.disclosure_granted' | 'ping' | '*'

export type EventType = 'attestation.created' | 'claim.provenance_updated' | 'claim.escalated' | 'case.status_changed' | 'screening.completed' | 'approval.requested' | 'approval.resolved' | 'intent.revoked' | 'trace.job_completed' | 'trace.canary_tripped' | 'trace.diff_completed' | 'trace.disclosure_requested' | 'trace.disclosure_granted' | 'ping'

export interface EventTypeEntry {
  type: Open<EventType>
  summary: string
  /** Accounts that use any of these products get the event. Empty: every account. */
  products: Open<Product>[]
  /** false: this version of the service does not send the type yet; you may already subscribe to it. */
  isSent: boolean
  /** JSON Schema (2020-12) of `data`. Members may be added to it. */
  dataSchema: JsonSchema | null
  /** JSON Schema (2020-12) of the whole body. */
  envelopeSchema: JsonSchema | null
  /** A whole body. */
  example: Event | null
}

export interface EventTypeEntryList {
  object: 'list'
  data: EventTypeEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type EvidenceFileFormat = 'json' | 'pdf'

export type EvidenceFormat = 'android-key' | 'apple-appattest'

export interface EvidencePacket {
  about: { version: 'evidence-packet/1'; /** Derived from the content: two packets with one id have the same content. */
  packet_id: string; issued_at: string; account_id: string; environment: Open<Environment>; claim_id: string; /** Address of the published keys. */
  keys_at: string; attestations: { total: number; included: number; is_complete: boolean; next_cursor: string | null }; /** What the packet contains and what it does not, as text. */
  statement: string }
  claim: PacketClaim
  /** Newest first. */
  attestations: PacketAttestation[]
  devices: PacketDevice[]
  cases: PacketCase[]
  timeline: { /** Oldest first. */
  moments: ({ at: string; kind: string; /** Id of the subject. */
  subject: string; detail: Record<string, unknown> })[]; /** Earlier events that did not fit. */
  omitted: number }
  /** The record keys of the environment, to verify offline what is signed here. */
  keys: ({ kty: 'EC'; crv: 'P-256'; x: string; y: string; kid: string; alg: 'ES256'; use: 'sig'; env: Open<Environment>; family: Open<'token' | 'record'>; revoked?: KeyRevocationVerbatim })[]
}

export interface ExclusionChange {
  prescriberId: string
  statusBefore: Open<ExclusionStatus>
  status: Open<ExclusionStatus>
  evidence: ExclusionEvidence[]
  changedAt: string
}

export interface ExclusionChangeList {
  object: 'list'
  data: ExclusionChange[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ExclusionDecision = 'cleared' | 'confirmed'

export interface ExclusionEvidence {
  list: Open<ExclusionListName>
  /** SHA-256 of the row, in hexadecimal. */
  rowHash: string
  listDate: string
  matchedOn: Open<ExclusionMatch>
}

/** full replaces the list; excl and rein are monthly supplements of LEIE, which are merged with it. */
export type ExclusionFileKind = 'full' | 'excl' | 'rein'

export interface ExclusionImport {
  exclusionImportId: string
  list: Open<ExclusionListName>
  kind: Open<ExclusionFileKind>
  fileName: string | null
  status: Open<WorkStatus>
  failure: ExclusionImportFailure | null
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string
  /** Bytes of the file. */
  size: number
  force: boolean
  /** Rows of the list after the import. */
  rows: number | null
  listDate: string | null
  requestedBy: Actor
  createdAt: string
  finishedAt: string | null
}

export interface ExclusionImportFailure {
  code: Open<ExclusionImportFailureCode>
  detail: string
}

export type ExclusionImportFailureCode = 'unreadable_zip' | 'unreadable_csv' | 'invalid_encoding' | 'missing_columns' | 'no_rows' | 'unfinished_line' | 'fewer_rows' | 'older_list' | 'supplement_as_full' | 'no_full_list' | 'date_unknown' | 'date_in_future' | 'import_failed'

export interface ExclusionImportList {
  object: 'list'
  data: ExclusionImport[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ExclusionList {
  list: Open<ExclusionListName>
  /** Date of the list in force; null: there is none. */
  listDate: string | null
  rows: number | null
  /** operator: the account has no file of its own. */
  source: Open<ExclusionListSource> | null
  /** Import of the account that put it in force. */
  exclusionImportId: string | null
  changedAt: string | null
  /** Missing, or older than 45 days (leie) or 7 days (sam). */
  isStale: boolean
}

/** leie: of the OIG of the HHS; sam: of the GSA. */
export type ExclusionListName = 'leie' | 'sam'

export type ExclusionListSource = 'account' | 'operator'

export type ExclusionMatch = 'npi' | 'name_birth_date' | 'name' | 'name_state'

export interface ExclusionReview extends ExclusionEvidence {
  exclusionReviewId: string
  prescriberId: string
  status: Open<ExclusionReviewStatus>
  reason: Open<ExclusionReviewReason> | null
  decidedBy: Actor | null
  decidedAt: string | null
  createdAt: string
}

export interface ExclusionReviewList {
  object: 'list'
  data: ExclusionReview[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ExclusionReviewReason = 'birth_date_differs' | 'npi_differs' | 'ssn_differs' | 'address_differs' | 'other_person' | 'same_person'

export type ExclusionReviewStatus = 'open' | 'cleared' | 'confirmed'

export interface ExclusionScreening {
  exclusionScreeningId: string
  /** The list that was imported, or prescribers who changed. The comparison is always with both lists. */
  cause: Open<ExclusionScreeningCause>
  status: Open<WorkStatus>
  failure: ExclusionScreeningFailure | null
  /** Prescribers compared. */
  screened: number
  /** Prescribers whose status is another one than before. */
  changed: number
  createdAt: string
  finishedAt: string | null
}

export type ExclusionScreeningCause = 'leie' | 'sam' | 'prescribers'

export interface ExclusionScreeningFailure {
  code: 'screening_failed'
  detail: string
}

export interface ExclusionScreeningList {
  object: 'list'
  data: ExclusionScreening[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ExclusionStatus = 'clear' | 'review' | 'excluded'

export interface Execution {
  jti: string
  status: Open<ExecutionStatus>
  executedAt: string
  outcomeAt: string | null
  /** SHA-256, base64url without padding. */
  actionHash: string
  /** SHA-256, base64url without padding. */
  payloadHash: string
}

export type ExecutionStatus = 'executed' | 'succeeded' | 'failed' | 'not_run'

/** Default: `{"include_media":false}`. */
export interface ExportAccountRequest {
  /** Photos and videos too. Default: `false`. */
  includeMedia?: boolean | undefined
}

export interface ExportFailure {
  code: 'export_failed'
  detail: string
}

export interface ExportProgress {
  files: number
  rows: number
}

export interface ExternalGraph {
  source: Open<'neuronpedia'>
  /** Model name at that service. */
  model: string
  /** false: the graph is of a replacement model, and no attribution of this service. */
  exact: false
  /** Graph as received, in the schema of Neuronpedia’s graphs. */
  graph: Record<string, unknown>
}

export type FactEndReason = 'entered_in_error' | 'replaced' | 'surrendered' | 'revoked' | 'person_changed' | 'other'

/** A finding that counts toward the risk score. */
export interface Factor {
  code: Open<FactorCode>
  points: number
  evidence: FactorEvidence
}

export interface FactorAnalytics {
  /** Start of the period that was read. */
  from: string
  /** End of the period that was read, exclusive. */
  to: string
  /** All cases that ended in the period. */
  cases: CaseOutcomeCounts
  /** Every code, in the order of results. */
  factors: FactorOutcomes[]
}

export type FactorCode = 'device_revoked' | 'session_nonce_mismatch' | 'signature_invalid' | 'no_manifest' | 'frame_hash_mismatch' | 'sensor_hash_mismatch' | 'cert_unknown_ca' | 'hardware_backing_absent' | 'liveness_check_failed' | 'video_manifest_incomplete' | 'gps_absent' | 'timestamp_stale' | 'device_not_enrolled' | 'biometric_absent'

/** Further members depend on the code. Their names have units, and times are ISO 8601. */
export interface FactorEvidence {
  /** What was compared. */
  compared: string
  /** What an honest capture would show: any JSON value. */
  expected: unknown
  /** What was found: any JSON value. */
  found: unknown
}

export interface FactorOutcomes {
  code: Open<FactorCode> | Open<AdvisoryCode>
  /** Points of the code; null: an advisory code, which never counts. */
  points: number | null
  /** Number of ended cases whose claim has the code. */
  cases: CaseOutcomeCounts
}

export interface FieldError {
  /** RFC 6901 pointer into the body, `?name` of the query, or the name of a header. */
  pointer: string
  code: Open<FieldErrorCode>
  /** Text for people; it may change. */
  detail: string
}

/** Stable name for programs. */
export type FieldErrorCode = 'account_key_required' | 'account_not_empty' | 'account_stopped' | 'account_suspended' | 'address_elsewhere' | 'address_not_public' | 'agent_held_by_lock' | 'agent_session_ended' | 'agent_session_revoked' | 'agent_suspended' | 'api_key_expired' | 'api_key_revoked' | 'app_environment' | 'app_unknown' | 'approval_already_decided' | 'approver_not_eligible' | 'assignee_required' | 'authentication_required' | 'backend_capability_missing' | 'backup_eligibility_changed' | 'bad_signature' | 'being_erased' | 'beta_access_required' | 'boot_not_verified' | 'canary_tripped' | 'cap_reached' | 'case_already_open' | 'case_open' | 'chain_broken' | 'chain_too_short' | 'challenge_act_mismatch' | 'challenge_expired' | 'challenge_mismatch' | 'challenge_unknown' | 'challenge_used' | 'chunk_differs' | 'claim_erased' | 'clinical_policy_denied' | 'confirmation_required' | 'confirmer_not_eligible' | 'conflict' | 'conflicting' | 'conflicting_keys' | 'consumer_moved' | 'content_type_mismatch' | 'cosigner_same_npi' | 'cosigner_same_user' | 'counter_not_zero' | 'counter_went_back' | 'cross_origin' | 'csrf_token_invalid' | 'device_revoked' | 'device_unlocked' | 'digest_mismatch' | 'domain_elsewhere' | 'duplicate' | 'duplicate_key' | 'duplicate_line' | 'empty_body' | 'ends_with_answer' | 'environment_mismatch' | 'events_expired' | 'expired' | 'extension_elsewhere' | 'extension_malformed' | 'extension_missing' | 'external_id_reused' | 'external_id_used' | 'fewer_operations' | 'fragment_not_allowed' | 'host_not_allowed' | 'idempotency_in_progress' | 'idempotency_key_reused' | 'in_future' | 'in_the_past' | 'input_refused' | 'insufficient_role' | 'insufficient_scope' | 'internal_error' | 'invalid_amount' | 'invalid_api_key' | 'invalid_base64' | 'invalid_character' | 'invalid_code' | 'invalid_condition' | 'invalid_currency' | 'invalid_cursor' | 'invalid_digest' | 'invalid_encoding' | 'invalid_format' | 'invalid_id' | 'invalid_json' | 'invalid_key' | 'invalid_link' | 'invalid_pattern' | 'invalid_pointer' | 'invalid_request' | 'invalid_signature' | 'invalid_state_transition' | 'invalid_type' | 'invalid_utf8' | 'invalid_value' | 'ip_not_allowed' | 'is_a_ca' | 'issuer_level_differs' | 'issuer_mismatch' | 'issuer_name_differs' | 'issuer_not_ca' | 'key_id_mismatch' | 'key_mismatch' | 'key_not_generated' | 'key_read_only' | 'key_usage' | 'last_admin_key' | 'last_owner' | 'leave_first' | 'levels_differ' | 'limit_reached' | 'lone_surrogate' | 'lower_rate' | 'malformed' | 'many_tenants' | 'matches_nothing' | 'method_not_allowed' | 'mismatch' | 'ml_dsa_key' | 'monthly_cap_exceeded' | 'name_mismatch' | 'no_chunks' | 'nonce_mismatch' | 'nonce_used' | 'not_a_ca' | 'not_a_certificate' | 'not_a_url' | 'not_allowed' | 'not_alone' | 'not_an_occurrence' | 'not_found' | 'not_lower' | 'not_multiple_of' | 'not_ready' | 'not_supported' | 'not_yet_valid' | 'note_required' | 'number_out_of_range' | 'other_agent' | 'other_subject' | 'other_users' | 'out_of_range' | 'owner_only' | 'passkey_required' | 'path_length' | 'payload_hash_mismatch' | 'payload_too_large' | 'pkce_unsupported' | 'plan_required' | 'port_not_allowed' | 'precondition_failed' | 'precondition_required' | 'prescriber_excluded' | 'prescriber_exists' | 'prescriber_tier_insufficient' | 'private_key' | 'provenance_not_verified' | 'provider_unavailable' | 'range_not_satisfiable' | 'range_too_large' | 'rate_limited' | 'reason_not_allowed' | 'refused_address' | 'remote_media_refused' | 'request_timeout' | 'required' | 'revocation_unknown' | 'revoked' | 'risk_not_flagged' | 'role_limit' | 'role_not_allowed' | 'root_missing' | 'root_of_trust_missing' | 'root_unknown' | 'scheme_not_allowed' | 'second_adjuster_required' | 'service_unavailable' | 'session_canary_locked' | 'session_expired' | 'session_required' | 'shorter_retention' | 'signature_not_invalid' | 'signer_mismatch' | 'signing_unsupported' | 'software_only' | 'sso_login_refused' | 'sso_required' | 'stale' | 'still_arriving' | 'text_not_kept' | 'too_deep' | 'too_few' | 'too_large' | 'too_long' | 'too_many' | 'too_many_pixels' | 'too_many_values' | 'too_short' | 'transition_not_allowed' | 'unexpected' | 'unknown' | 'unknown_ca' | 'unknown_challenge' | 'unknown_event_type' | 'unknown_field' | 'unknown_node' | 'unknown_passkey' | 'unknown_policy_field' | 'unknown_timezone' | 'unreadable_media' | 'unsupported' | 'unsupported_attestation' | 'unsupported_key' | 'unsupported_media_type' | 'used' | 'user_not_present' | 'user_not_verified' | 'userinfo_not_allowed' | 'weak_key' | 'wider' | 'wrong_challenge' | 'wrong_check_digit' | 'wrong_media_type' | 'wrong_origin' | 'wrong_rp_id' | 'wrong_type'

export type FinishReason = 'stop' | 'length' | 'canary_tripped' | 'tool_calls' | 'refusal' | 'content_filter'

export type Flag = 'true' | 'false'

export interface FormularyEntry {
  /** Concept id of RxNorm. */
  rxcui: string
  schedule: Open<DrugSchedule>
}

export interface FormularyEntryList {
  object: 'list'
  data: FormularyEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface FullDelivery extends DeliveryLine {
  /** The exact text that is signed and sent; null when the event is deleted. */
  body: string | null
}

export interface FullDeliveryAttempt extends DeliveryAttempt {
  /** The address that was connected to. */
  address: string | null
  request: DeliveryCall | null
  response: DeliveryAnswer | null
}

export interface GeneratedRuns {
  runs: number
  trips: number
  falsePositiveRate: number
}

export interface GeneratorScore {
  model: string
  score: number
}

export type GivenFactEndReason = 'entered_in_error' | 'replaced' | 'surrendered' | 'revoked' | 'other'

export interface GrantDisclosureRequest {
  /** Default: `86400`. */
  expiresIn?: number | undefined
}

export type GrantableScope = 'verify' | 'attest' | 'escalate' | 'admin' | 'intent' | 'screen' | 'all'

export interface Hardware {
  format: Open<EvidenceFormat>
  /** Tier that the evidence proves; hardware_tier also takes the list of revoked keys into account. */
  provenTier: Open<HardwareTier>
  /** Empty when the evidence proved the tier. */
  reasons: HardwareReason[]
  android: AndroidHardware | null
  apple: AppleHardware | null
  verifiedAt: string
  revocation: HardwareRevocation
}

export interface HardwareVerbatim {
  format: Open<EvidenceFormat>
  /** Tier that the evidence proves; hardware_tier also takes the list of revoked keys into account. */
  proven_tier: Open<HardwareTier>
  /** Empty when the evidence proved the tier. */
  reasons: HardwareReason[]
  android: AndroidHardwareVerbatim | null
  apple: AppleHardwareVerbatim | null
  verified_at: string
  revocation: HardwareRevocationVerbatim
}

export type HardwareEvidence = AndroidEvidence | AppleEvidence

export interface HardwareReason {
  code: Open<HardwareReasonCode>
  detail: string
}

export type HardwareReasonCode = 'malformed' | 'ml_dsa_key' | 'chain_too_short' | 'chain_broken' | 'issuer_name_differs' | 'issuer_not_ca' | 'root_missing' | 'root_unknown' | 'not_yet_valid' | 'expired' | 'extension_missing' | 'extension_elsewhere' | 'extension_malformed' | 'nonce_mismatch' | 'key_id_mismatch' | 'counter_not_zero' | 'key_mismatch' | 'challenge_mismatch' | 'challenge_unknown' | 'challenge_expired' | 'challenge_used' | 'app_unknown' | 'app_environment' | 'levels_differ' | 'issuer_level_differs' | 'software_only' | 'key_not_generated' | 'root_of_trust_missing' | 'device_unlocked' | 'boot_not_verified' | 'revoked' | 'revocation_unknown'

/** Revocation by the vendor’s list as last fetched. */
export interface HardwareRevocation {
  status: Open<HardwareRevocationStatus>
  listFetchedAt: string | null
  serial: string | null
  /** Status in the vendor’s list. */
  listedAs: string | null
}

/** Revocation by the vendor’s list as last fetched. */
export interface HardwareRevocationVerbatim {
  status: Open<HardwareRevocationStatus>
  list_fetched_at: string | null
  serial: string | null
  /** Status in the vendor’s list. */
  listed_as: string | null
}

export type HardwareRevocationStatus = 'good' | 'stale' | 'revoked' | 'never_fetched' | 'off' | 'not_applicable'

export type HardwareTier = 'none' | 'software' | 'tee' | 'strongbox' | 'secure_enclave'

export interface HeldOutFigures {
  auc: number
  tripRate: number
  falsePositiveRate: number
}

export interface IdentityFactRequest {
  kind: 'identity'
  method: IdentityMethod
  expiresAt?: string | undefined
}

/**
 * credential_service_provider: 21 CFR 1311.105; in_person: by the credentialing office of an institution, 21 CFR
 * 1311.110.
 */
export type IdentityMethod = 'credential_service_provider' | 'in_person'

export interface Incident {
  kind: Open<IncidentKind>
  decisionId: string
  at: string
  /** The act or the refusal, as the ledger names it. */
  reason: string
  /** The order, the prescriber, the import or the review. */
  subjectId: string | null
  /** Why an act was refused or done, such as the code of the refusal. */
  cause: string | null
}

export interface IncidentCounts {
  failedSignature: number
  excludedAttempt: number
  refusedAct: number
  override: number
  tierChange: number
  listChange: number
  policyChange: number
}

/**
 * excluded_attempt: an excluded clinician was to sign, or an order of one to be executed. override: a person cleared a
 * match with an exclusion list, or replaced a list against its checks.
 */
export type IncidentKind = 'failed_signature' | 'excluded_attempt' | 'refused_act' | 'override' | 'tier_change' | 'list_change' | 'policy_change'

export interface IncidentReport {
  /** Day in UTC. */
  day: string
  counts: IncidentCounts
  /** The first thousand, oldest first. */
  incidents: Incident[]
  /** How many more there were: the ledger has them. */
  omitted: number
  createdAt: string
}

export interface IncidentReportList {
  object: 'list'
  data: IncidentReport[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface Inference {
  traceId: string
  model: string
  modelVersionId: string
  /** Completion; null: withheld, see `finish_reason`. */
  completion: string | null
  /** Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none. */
  toolCalls?: ModelToolCall[]
  /** canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended. */
  finishReason: Open<FinishReason>
  usage: TokenUsage
  /** Canary readings; null: the model has no probes. `tripped_families` follows the current thresholds. */
  canary: Canary | null
  /** Families that tripped and do not count, because their probes are experimental. `allow_experimental` counts them. */
  uncountedFamilies: string[]
  /** Mode of the kill switch for this agent. */
  mode: Open<KillSwitchMode>
  /** Id of the lock in force. */
  lockId: string | null
  /** Id of the entry in the decision ledger. */
  decisionId: string
}

export interface InlineMedia {
  contentType: string
  data: string
}

export interface Intent {
  jti: string
  status: Open<IntentTokenStatus>
  authorizedBy: Actor
  actionHash: string
  payloadHash: string
  agentId: string | null
  agentSessionId: string
  deviceId: string
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
  orderHash: string | null
  traceId: string | null
  audience: string | null
  /** A person confirmed exactly this action with a passkey. */
  biometric: boolean
  policyVersion: number
  createdAt: string
  expiresAt: string
  executedAt: string | null
  /** Outcome that the executing caller reported. */
  outcome: Open<IntentOutcome> | null
  outcomeAt: string | null
  revocationId: string | null
  revokedScope: Open<RevokedScope> | null
  revokedAt: string | null
}

export interface IntentBindings {
  /** SHA-256, base64url without padding. */
  actionHash: string
  /** SHA-256, base64url without padding. */
  payloadHash: string
  contextHash: string | null
  traceId: string | null
  readingHash: string | null
  agentId: string | null
  agentSessionId: string
  deviceId: string
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
  /** Content of the order that the token is bound to. */
  orderHash: string | null
  /** A person confirmed exactly this action with a passkey. */
  biometric: boolean
  /** Value in the request. */
  singleUse: boolean
  audience: string | null
  policyVersion: number
}

export interface IntentList {
  object: 'list'
  data: Intent[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type IntentOutcome = 'succeeded' | 'failed' | 'not_run'

export interface IntentPreflight {
  wouldBeValid: boolean
  reason: string | null
}

export interface IntentRevokedData {
  revocation_id: string
  scope: Open<RevokedScope>
  jti?: string
  agent_session_id?: string
  device_id?: string
  reason: string
  actor: Actor
}

export interface IntentRevokedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'intent.revoked'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: IntentRevokedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface IntentStatus {
  jti: string
  status: Open<IntentTokenStatus>
  revoked: boolean
  revokedScope: Open<RevokedScope> | null
  revokedAt: string | null
  expiresAt: string
}

export interface IntentStop {
  stopped: boolean
  /** The last stop, in force or lifted; null if there was none. */
  stopId: string | null
  reason: string | null
  stoppedBy: Actor | null
  stoppedAt: string | null
  resumedBy: Actor | null
  resumedAt: string | null
}

/**
 * revoked: stays so after `exp`. expired: also when the approval has ended without permission, or was given too long
 * ago.
 */
export type IntentTokenStatus = 'active' | 'revoked' | 'expired'

export interface InterveneInTraceRequest {
  edits: NeuronEdit[]
  /** The position whose logits are compared. Default: `{"position":0}`. */
  target?: InterventionTarget | undefined
  /** Number of the likeliest tokens to compare, before and after. Default: `5`. */
  topTokens?: number | undefined
  /** Input of the inference: required where the trace keeps only hashes, and always compared with `prompt_hash`. */
  input?: RepeatedPrompt | undefined
}

export interface Intervention {
  traceId: string
  tokens: ChangedToken[]
  edits: EditedNeuron[]
  /** Runtime of the accelerator that computed the result, if one did. */
  runtime?: string
}

export interface InterventionTarget {
  /**
   * Position of the explained token in the completion: 0 is the first token; the length of the completion is the token
   * after it. Default: `0`.
   */
  position?: number | undefined
}

export interface Invite {
  inviteId: string
  email: string
  role: Open<Role>
  status: Open<InviteStatus>
  /** User or key that sent the newest mail. */
  invitedBy: Actor
  createdAt: string
  /** When the newest mail was requested. */
  sentAt: string
  expiresAt: string
  acceptedAt: string | null
  /** User that became a member by accepting. */
  userId: string | null
  revokedAt: string | null
}

export interface InviteList {
  object: 'list'
  data: Invite[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type InviteStatus = 'pending' | 'accepted' | 'revoked' | 'expired'

export interface InviteUserRequest {
  email: string
  role: Role
}

export interface IssuedChallenges {
  challenges: Challenge[]
}

export interface IssuedSession {
  captureSessionId: string
  sessionNonce: string
  issuedAt: string
  expiresAt: string
}

export interface IssuedSessions {
  sessions: IssuedSession[]
}

export type JsonSchema = Record<string, unknown>

export interface JudgedCanary {
  family: string
  score: number
  threshold: number
  tripped: boolean
}

export interface JudgedStanding {
  riskStatus: Open<RiskStatus>
  riskScore: number
  provenanceStatus: Open<ProvenanceStatus>
}

/** The key was revoked, because other parties may have had it. */
export interface KeyRevocation {
  revokedAt: string
  /** Another holder of the key may have made signatures from this time on. */
  doubtedSince: string
}

/** The key was revoked, because other parties may have had it. */
export interface KeyRevocationVerbatim {
  revoked_at: string
  /** Another holder of the key may have made signatures from this time on. */
  doubted_since: string
}

export interface KillSwitch {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  document: KillSwitchDocument
}

export interface KillSwitchAgents {
  agents?: string[]
}

export interface KillSwitchDocument {
  /**
   * off: readings are not judged. monitor: readings are judged, and no request is refused. block: a trip, an old reading
   * and a missing reading are refused. block_and_lock: a trip also locks the session.
   */
  mode: Open<KillSwitchMode>
  /** An older reading does not count. Default: `300`. */
  max_age_s?: number
  /** Thresholds that replace the thresholds of readings. A family that is not enabled does not count. Default: `[]`. */
  families?: KillSwitchFamily[]
  /**
   * Agents that the kill switch applies to; all agents when `agents` is absent. Requests that name no agent are always
   * included.
   */
  apply_to?: KillSwitchAgents
  /** Under `block` and `block_and_lock`, probes with the status `experimental` count too. Default: `false`. */
  allow_experimental?: boolean
  /** Conditions for a reading that may allow. Default: `{"models":[],"max_tokens":64}`. */
  reading?: KillSwitchReading
}

export interface KillSwitchFamily {
  family: string
  threshold: number
  /** Default: `true`. */
  enabled?: boolean
}

export type KillSwitchMode = 'off' | 'monitor' | 'block' | 'block_and_lock'

export interface KillSwitchPreview {
  from: string
  to: string
  /** false: there were more than 5,000 checks or inferences, and the ones before `from` are left out. */
  complete: boolean
  /** Checks and inferences that were re-evaluated by this document. */
  looked: PreviewedRequests
  /** Checks that would have been refused, and inferences that would have been withheld. */
  refused: PreviewedRequests
  reasons: PreviewedReason[]
  /** Traces with a family that trips and counts. */
  trippedTraces: number
  /** Sessions and agents that would have been locked. */
  locks: number
  /** Requests of those sessions and agents after the lock, which would have been refused until a person cleared it. */
  heldByLocks: number
  families: PreviewedFamily[]
  /** Agents with a refusal, most refusals first; at most 100. */
  agents: PreviewedAgent[]
}

export interface KillSwitchReading {
  /**
   * Only readings of these models may allow; the first model reads inputs. Empty: the first of GET /v1/trace/models.
   * Default: `[]`.
   */
  models?: string[]
  /** Most tokens of an input’s completion. A completion that is cut off earlier allows nothing. Default: `64`. */
  max_tokens?: number
}

export interface KolmogorovSmirnov {
  statistic: number
  p: number
  /** p value adjusted for the number of families (Holm). */
  p_holm: number
  method: Open<KolmogorovSmirnovMethod>
}

export type KolmogorovSmirnovMethod = 'exact' | 'asymptotic'

export interface LastVerification {
  decisionId: string
  at: string
  /** true: the last verification only checked, without executing. */
  valid: boolean
  reason: string | null
}

export interface LedgerCheck {
  /** true: this part has no findings. */
  valid: boolean
  /** Number of leaves of the log. */
  size: number
  from: number
  to: number
  /** `from` of the next part; null after the last. */
  next: number | null
  /** Number of checked leaves. */
  leaves: number
  /** Number of leaves whose entries were deleted at the end of their retention. */
  entriesGone: number
  /** Number of checked checkpoints. */
  checkpoints: number
  problems: LedgerProblem[]
  hasMoreProblems: boolean
}

export interface LedgerCheckpoint {
  /** Number of leaves that it covers. */
  size: number
  /** SHA-256, base64url without padding. */
  root: string
  at: string
  /** JWS by a record key; `typ` is `ledger-checkpoint+jwt`. */
  jws: string
}

export interface LedgerCheckpointLine extends LedgerCheckpoint {
  type: 'checkpoint'
}

export interface LedgerCheckpointList {
  object: 'list'
  data: LedgerCheckpoint[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface LedgerConsistencyProof {
  from: LedgerTree
  to: LedgerTree
  /** Proof of RFC 6962 2.1.2. */
  proof: string[]
}

export interface LedgerEndLine {
  type: 'end'
  size: number
}

export interface LedgerEntryLine {
  type: 'entry'
  position: number
  /** SHA-256, base64url without padding. */
  leafHash: string
  /** SHA-256, base64url without padding. */
  entryHash: string
  entry: DecisionEntry
}

export interface LedgerHeadLine {
  type: 'head'
  version: 1
  accountId: string
  environment: Open<Environment>
  /** The position of the first leaf. */
  from: number
  /** Leaves at the last checkpoint of the export. */
  size: number
  /** Roots of the complete subtrees of the leaves before `from`, the largest first. */
  frontier: string[]
}

export interface LedgerInclusionProof {
  decisionId: string
  /** SHA-256, base64url without padding. */
  entryHash: string
  /** SHA-256 of 0x00 and `entry_hash`. */
  leafHash: string
  position: number
  size: number
  /** SHA-256, base64url without padding. */
  root: string
  /** Proof of RFC 6962 2.1.1, from the neighbour of the leaf to the top. */
  proof: string[]
  /** Checkpoint of exactly this size; null: there is none. */
  checkpoint: LedgerCheckpoint | null
}

export interface LedgerLeafLine {
  type: 'leaf'
  position: number
  /** SHA-256, base64url without padding. */
  leafHash: string
  decisionId: string
}

export type LedgerLine = LedgerHeadLine | LedgerEntryLine | LedgerLeafLine | LedgerCheckpointLine | LedgerEndLine

export interface LedgerProblem {
  code: Open<LedgerProblemCode>
  position: number | null
  decisionId: string | null
  detail: string
}

export type LedgerProblemCode = 'entry_changed' | 'entry_misplaced' | 'entry_removed' | 'entry_unlogged' | 'leaf_changed' | 'leaf_missing' | 'node_changed' | 'head_changed' | 'log_shortened' | 'checkpoint_forked' | 'checkpoint_unsigned'

export interface LedgerTree {
  size: number
  /** SHA-256, base64url without padding. */
  root: string
}

export interface LensToken {
  token: number
  text: string
  probability: number
}

export interface LicenceFactRequest {
  kind: 'licence'
  usState: UsState
  number: string
  expiresAt: string
}

export type ListOrder = 'asc' | 'desc'

export interface LowerPlanRequest {
  plan: Plan
  /** Confirms the change. When absent, the answer says what the change brings. */
  confirm?: boolean | undefined
}

export interface MagicLinkRequested {
  status: 'sent'
  /** Present only where LOGIN_ECHO is on. */
  link?: string
  /** Present only where LOGIN_ECHO is on. */
  token?: string
}

export interface MakeExternalGraphRequest {
  prompt: string
}

export interface Mandate {
  mandateId: string
  parentId: string | null
  /** Ancestors, root first. */
  ancestors: string[]
  /** Status with the ancestors: the worst status of any ancestor applies to all descendants. */
  status: Open<MandateStatus>
  /** The mandate or the ancestor that has this status. */
  statusOf: string
  principal: string
  agentId: string | null
  description: string
  timezone: string
  constraints: MandateConstraints
  payloadPointers: MandatePayloadPointers
  budget: MandateBudget | null
  /** Remainder of the budgets of the mandate and of all ancestors; null without any budget. */
  remaining: string | null
  notBefore: string | null
  /** Payment instruments; null: any. */
  instruments: string[] | null
  expiresAt: string
  heartbeat: MandateHeartbeat | null
  revokedAt: string | null
  revokedBy: Actor | null
  revokedReason: string | null
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

export interface MandateBudget {
  /** A decimal number. */
  limit: string
  currency: string
  period: Open<BudgetPeriod>
  /** The calendar date, in the mandate's time zone, on which the current period began. */
  periodStart: string
  /** Date on which the next period begins; null for a total. */
  periodEnd: string | null
  /** A decimal number. */
  spent: string
  /** A decimal number. */
  remaining: string
  /** Most executions in one period; null: any number. */
  maxCount: number | null
  /** Executions in the current period, except executions that were given back. */
  count: number
}

export type MandateConstraintName = 'amount' | 'min_amount' | 'max_amount' | 'currency' | 'action_types' | 'counterparties' | 'instruments' | 'not_before' | 'window' | 'budget' | 'max_count' | 'agent_id'

export interface MandateConstraints {
  /** A decimal number. */
  minAmount?: string
  /** A decimal number. */
  maxAmount?: string
  currency?: string
  actionTypes?: string[]
  counterparties?: string[]
  window?: MandateWindow
}

export interface MandateDailySpend {
  mandateId: string
  from: string
  to: string
  /** Days with a charge, oldest first. */
  days: MandateSpendDay[]
}

/** Set with a reason of the mandate: the limit that refuses. */
export interface MandateDetail {
  constraint: Open<MandateConstraintName>
  /** Limit in the mandate. */
  expected: unknown
  /** Value in the action; null: absent or not readable. */
  actual: unknown
  /** Set with `budget`: the remainder of the budget. */
  remaining?: string
  /** The level that refuses: the mandate or one of its ancestors. */
  mandateId: string
}

export interface MandateHeartbeat {
  intervalSeconds: number
  reactivationWindowSeconds: number
  lastCheckInAt: string
  /** Deadline of the next check-in; after it the mandate is suspended. */
  nextCheckInBy: string
  /** Deadline of the last possible check-in; after it the mandate stays lapsed. */
  lapsesAt: string
}

export interface MandateList {
  object: 'list'
  data: Mandate[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface MandatePayloadPointers {
  amount?: string
  currency?: string
  counterparty?: string
  actionType?: string
  instrument?: string
}

export interface MandateSpend {
  mandateId: string
  /** Start of the budget’s period; null where the mandate has no budget. */
  periodStart: string | null
  currency: string | null
  executions: number
  /** Exact decimal number. */
  charged: string
  /** Amount given back because the action failed or did not run. */
  released: string
  /** `charged` less `released`. */
  spent: string
}

export interface MandateSpendDay {
  /** Day in UTC. */
  date: string
  currency: string
  /** Number of executions, except executions that were given back. */
  executions: number
  /** Amount charged for actions that succeeded, or whose outcome can not be reported any more. */
  committed: string
  /** Amount charged for actions whose outcome was not reported yet. */
  reserved: string
  /** Amount given back because the action failed or did not run. */
  released: string
}

export interface MandateSpendList {
  object: 'list'
  data: MandateSpend[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type MandateStatus = 'revoked' | 'expired' | 'lapsed' | 'suspended' | 'active'

export interface MandateWindow {
  /** Weekdays of ISO 8601: 1 is Monday. Every day when absent. */
  weekdays?: number[]
  /** Start, inclusive. */
  from?: string
  /** End, exclusive, and after `from`. */
  to?: string
}

export interface MaskRule {
  layers?: number[]
  /** RE2 pattern, which matches anywhere in the label. */
  labelPattern?: string
  /** Number of the most influential neurons to mask. */
  topInfluence?: number
}

export interface MeanShift {
  mean: number
  low: number
  high: number
}

export interface Media {
  mediaId: string
  sha256: string
  size: number
  contentType: Open<MediaContentType>
  width: number | null
  height: number | null
  createdAt: string
}

/** Always refused: media are not fetched from addresses. */
export interface MediaAddress {
  url: string
}

export type MediaContentType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/heic' | 'image/avif' | 'image/tiff' | 'video/mp4' | 'video/quicktime' | 'video/webm'

export interface MediaDetails extends Media {
  /** When the same bytes were last uploaded. */
  uploadedAt: string
  /** Claims whose captures show the media, newest first. */
  claimIds: string[]
  /** true: more than 100 claims show the media. */
  hasMoreClaims: boolean
}

export interface MediaReference {
  mediaId: string
}

export type MediaType = 'image' | 'video'

export type MeteredOperation = 'attest' | 'screen' | 'authorize' | 'verify' | 'inference' | 'trace_job' | 'diff' | 'clinician_order'

export interface MissingApprovals {
  roles: Open<ApproverRole>[]
  approvals: number
}

export interface Model {
  model: string
  /** true: requests that name no model use this model. */
  default: boolean
  /** true: the model comes with the service. */
  embedded: boolean
  backend: Open<ModelBackend>
  /** false: the file can not be loaded. */
  usable: boolean
  capabilities: ModelCapabilities
  version: ModelVersion | null
  probeSet: CanaryProbeSet | null
}

export type ModelBackend = 'embedded' | 'onnx' | 'neuronpedia' | 'openai_compatible'

export interface ModelCapabilities {
  generate: boolean
  /** true: the logit lens and other internals are available. */
  activations: boolean
  attribution: Open<AttributionCapability>
  /** none: `canary_set` is refused. */
  canary: Open<CanaryCapability>
  intervene: boolean
  /** true: the same request gives the same tokens and readings. */
  deterministic: boolean
}

export interface ModelList {
  object: 'list'
  data: Model[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ModelToolCall {
  name: string
  /** Arguments as the model wrote them. */
  arguments: string
}

export interface ModelVersion {
  modelVersionId: string
  sha256: string
  architecture: string
  layers: number
  width: number
  /** Number of neurons of each layer. */
  mlp: number
  vocabulary: number
  /** Longest text in tokens, prompt and completion together. */
  contextTokens: number
  /** true: the model takes `messages`; false: `prompt` only. */
  chat: boolean
}

export interface MonthUse {
  /** Month in UTC, such as 2026-11. */
  month: string
  /** The sandbox is not metered. */
  environment: 'live'
  /** When the next month begins. */
  resetsAt: string
  /** Operations of the month; negative when more were given back than counted. */
  used: number
  /** Cap of the current plan; null for a month that has ended. */
  cap: number | null
  isHardCap: boolean | null
  remaining: number | null
  percent: number | null
}

export interface NamedApprover {
  /** Address of a member who may decide. */
  email: string
}

export interface NarrowMandateRequest {
  agentId?: string | undefined
  /** Members that are absent keep their values. */
  constraints?: RequestedMandateConstraints | undefined
  /** `currency` and `period` are required where the mandate has no budget yet. */
  budget?: RequestedBudgetChange | undefined
  notBefore?: string | undefined
  instruments?: string[] | undefined
  expiresAt?: string | undefined
  heartbeat?: RequestedMandateHeartbeat | undefined
}

export interface NeuronEdit {
  /** Id of a neuron, as in a manifest: `layer_neuron_position`. */
  nodeId: string
  /** Factor of the activation; 0 ablates the neuron. Default: `0`. */
  factor?: number | undefined
}

export interface NextTokenDivergence {
  mean: number | null
  tokens: number
  unit: 'nats'
  undefined_because: string | null
}

/** A further observation beside the factors. */
export interface Observation {
  code: string
  evidence: FactorEvidence
}

export interface OfferedPlan {
  plan: Open<Plan>
  limits: PlanLimits
  /** Who can change to this plan: the owner to a smaller plan, the operator of the service to a larger plan. */
  change: Open<PlanChange>
}

export interface OldestApproval {
  approvalId: string
  askedAt: string
}

export interface OpenAgentSessionRequest {
  metadata?: Record<string, unknown> | undefined
}

export interface OpenCaseRequest {
  claimId: string
  /** The person who acts. Required with an API key. A session acts for its own user, and this is ignored. */
  actor?: string | undefined
  /** The `user_id` of a member who may work on cases; with an API key also any label. */
  assignee?: string | undefined
  /** Default: `normal`. */
  priority?: CasePriority | undefined
  note?: string | undefined
}

export interface OpenSession {
  sessionId: string
  method: Open<SignInMethod>
  sandboxOnly: boolean
  /** The session of this request. */
  current: boolean
  /** Address of the sign-in. */
  ip: string | null
  userAgent: string | null
  createdAt: string
  /** Time exact to a minute. */
  lastSeenAt: string
  expiresAt: string
}

export interface OpenSessionList {
  object: 'list'
  data: OpenSession[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface OperationUse {
  operation: Open<MeteredOperation>
  /** Operations of the month; negative when more were given back than counted. */
  units: number
  days: UsageDay[]
}

export interface Order {
  orderId: string
  status: Open<OrderStatus>
  /** Counts all changes. The `ETag` has it. */
  version: number
  /** Counts edits, each of which voids the signatures. */
  revision: number
  /** SHA-256 in base64url of the canonical JSON of what is signed: see the guide Clinician orders. */
  orderHash: string
  hashVersion: 1
  prescriberId: string
  prescriberNpi: string
  patientRef: string
  encounterRef: string | null
  medication: OrderedMedication
  /** The strictest of what was asked for, the formulary and the table. */
  schedule: Open<DrugSchedule>
  /** Which of the three decided. */
  scheduleSource: Open<ScheduleSource>
  /** Substance of 21 CFR 1308 that was found, if the table decided. */
  scheduleSubstance: string | null
  scheduleRequested: Open<DrugSchedule>
  quantity: OrderedQuantity
  refills: number
  sig: string
  usState: Open<UsState> | null
  actionPayload: Record<string, unknown> | null
  /** Text of the FHIR resource as it came; null for an order in JSON. */
  resource: string | null
  /** SHA-256 in base64url of that text. */
  resourceHash: string | null
  needs: OrderNeeds
  /** What is possible in this status. */
  allowedActs: Open<OrderAct>[]
  /** Exclusion lists that are missing or outdated. */
  warnings: Open<OrderWarning>[]
  /** Also those that an edit voided. */
  signatures: OrderSignature[]
  authorizedAt: string | null
  expiresAt: string
  /** When it was executed, declined or cancelled. */
  endedAt: string | null
  endedBy: Actor | null
  endedReason: Open<OrderEndReason> | null
  /** Decision that executed it. */
  decisionId: string | null
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

export type OrderAct = 'edit' | 'sign' | 'cosign' | 'decline' | 'cancel' | 'execute'

export type OrderCancelReason = 'entered_in_error' | 'replaced' | 'no_longer_needed' | 'other'

export interface OrderChallenge extends PasskeyChallenge {
  act: Open<SignatureAct>
  /** What is signed: compare it with the hash of what you show. */
  orderHash: string
  statement: SigningStatement
  prescriber: OrderPrescriber
  order: Order
}

export type OrderEndReason = 'dose' | 'interaction' | 'indication' | 'duplicate' | 'identity' | 'other' | 'entered_in_error' | 'replaced' | 'no_longer_needed'

export interface OrderList {
  object: 'list'
  data: Order[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** The rule that the clinical policy has now for the schedule of the order. */
export interface OrderNeeds {
  deny: boolean
  tier: PrescriberTier
  passkey: boolean
  cosign: boolean
  maxRefills: number
  validityDays: number | null
}

/** Name and registrations of the prescriber, which the signer has to see. */
export interface OrderPrescriber {
  first: string
  last: string
  npi: string
  deaNumbers: string[]
}

export interface OrderSignature {
  act: Open<SignatureAct>
  /** Edit of the order that was signed. */
  revision: number
  orderHash: string
  /** Who signed. */
  prescriberId: string
  signedBy: Actor
  /** session: the signed-in person confirmed, where the policy asks for no passkey. */
  method: Open<SignatureMethod>
  passkeyId: string | null
  /** Version of the statement that the signer saw. */
  statementVersion: string
  signedAt: string
  /** When an edit voided it. */
  voidedAt: string | null
}

export type OrderStatus = 'draft' | 'pending_cosign' | 'authorized' | 'executed' | 'declined' | 'cancelled' | 'expired'

export type OrderWarning = 'leie_stale' | 'sam_stale'

export interface OrderedMedication {
  rxnorm: string | null
  name: string
}

export interface OrderedMedicationRequest {
  /** Concept id of RxNorm (RXCUI). Default: `null`. */
  rxnorm?: string | null | undefined
  name: string
  /** Schedule that you know. The formulary and the table of 21 CFR 1308 can only make it stricter. Default: `none`. */
  schedule?: DrugSchedule | undefined
}

export interface OrderedQuantity {
  /** Decimal with the digits that were sent. */
  value: string
  unit: string | null
}

export interface OrderedQuantityRequest {
  /** Decimal, whose digits are kept as they are. */
  value: string
  /** Default: `null`. */
  unit?: string | null | undefined
}

export interface Overview {
  environment: Open<Environment>
  cases: OverviewCases | null
  approvals: OverviewApprovals | null
  captures: OverviewBatchWork | null
  screenings: OverviewBatchWork | null
  traces: OverviewTraces | null
  webhooks: OverviewWebhooks | null
  devices: OverviewDevices | null
  agents: OverviewAgents | null
  locks: OverviewLocks | null
  stop: OverviewStop | null
  keys: OverviewKeys | null
  usage: OverviewUsage | null
  /** Parts that are null, because the caller may not read their rows. */
  notReadable: Open<OverviewPart>[]
}

export interface OverviewAgents {
  /** Agents that a person or a key suspended. */
  suspended: CappedCount
  heldByLock: CappedCount
}

export interface OverviewApprovals {
  /** For a user: number of approvals that `GET /v1/approvals?awaiting=me` lists. For a key: pending approvals. */
  awaiting: CappedCount
}

export interface OverviewBatchWork {
  /** Batches with a line that waits or runs, among the first thousand lines of each. */
  runningBatches: CappedCount
  /** Jobs that ended without a result. A retry continues them. */
  failedJobs: CappedCount
}

export interface OverviewCases {
  /** Open cases without an assignee. */
  unassigned: CappedCount
  /** Open cases of the caller; null: the caller is a key. */
  mine: CappedCount | null
  /** Open cases past their due date. */
  overdue: CappedCount
}

export interface OverviewDevices {
  /** Devices whose certificate ends within 30 days. */
  expiringDevices: CappedCount
  /** Root CAs that end within 30 days. */
  expiringRootCas: CappedCount
  /** C2PA trust anchors that end within 30 days. */
  expiringAnchors: CappedCount
}

export interface OverviewKeys {
  /** API keys that end within 30 days. */
  expiring: CappedCount
}

export interface OverviewLocks {
  locked: CappedCount
}

export type OverviewPart = 'cases' | 'approvals' | 'captures' | 'screenings' | 'traces' | 'webhooks' | 'devices' | 'agents' | 'locks' | 'stop' | 'keys' | 'usage'

export interface OverviewStop {
  /** null: no stop is in force. */
  stoppedAt: string | null
}

export interface OverviewTraces {
  /** Attributions and diffs that ended without a result. */
  failedJobs: CappedCount
}

export interface OverviewUsage {
  /** Latest notice of this month; null: none yet. */
  notice: Open<AccountNoticeKind> | null
}

export interface OverviewWebhooks {
  /** Enabled endpoints whose deliveries wait because the last ones failed. */
  failingEndpoints: CappedCount
  disabledEndpoints: CappedCount
  /** Deliveries that are not retried automatically. */
  failedDeliveries: CappedCount
}

export interface P256PublicKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
}

export interface PacketAttestation {
  attestation_id: string
  external_id: string | null
  batch_id: string | null
  device_id: string | null
  status: Open<PacketAttestationStatus>
  accepted_at: string
  evaluated_at: string | null
  /** When the media and positions were erased. */
  erased_at: string | null
  media: { media_id: string; /** SHA-256, lower-case hex. */
  sha256: string; size: number; content_type: string; width: number | null; height: number | null; is_erased: boolean }
  /** Submission as sent; after an erasure, the remaining members. */
  submission: { media_type: string; claim?: unknown; bundle?: unknown; assertion?: string; signature?: { alg: string; value: string }; /** The capture session that the media were streamed to. */
  stream?: string }
  /** base64url SHA-256 of the canonical bundle (RFC 8785), as in the signed result. */
  bundle_sha256: string | null
  /** The key that checks the bundle’s signature. */
  key: { source: Open<'certificate' | 'device'>; /** Public key as base64 of DER. */
  spki: string } | null
  certificates: { /** device: no certificates were sent, and these are the enrolled ones. */
  source: Open<'submission' | 'device' | 'none'>; chain: ({ /** Certificate as base64 of DER. */
  der: string; subject: string; issuer: string; serial: string; not_before: string; not_after: string; /** SHA-256, lower-case hex. */
  fingerprint: string })[] }
  /**
   * Distance from the position of the bundle to the place of the loss. The claim’s first-stated place or the place of
   * this submission counts, whichever is farther.
   */
  distance: { metres: number; accuracy_metres: number; mock: boolean } | null
  result: { observations: Observation[]; provenance_status: string; risk_status: string; risk_score: number; hardware_tier: string; rules_version: string; factors: Factor[]; advisory_factors: AdvisoryFactor[]; result_jws: string; /** Revocation of the key that signed `result_jws`. */
  signing_key_revoked?: KeyRevocationVerbatim } | null
  /** Findings after the result was signed: the same or a similar picture in other claims. */
  found_later: Observation[]
  /** The five newest results that later results replaced, oldest first. */
  earlier_results: ({ evaluated_at: string; replaced_at: string; risk_status: string; risk_score: number; provenance_status: string; result_jws: string; signing_key_revoked?: KeyRevocationVerbatim })[]
  failure: string | null
}

export type PacketAttestationStatus = 'queued' | 'evaluated' | 'failed' | 'cancelled'

export interface PacketCase {
  case_id: string
  claim_id: string
  status: Open<CaseStatus>
  /** Reason of the last transition. */
  reason_code: Open<CaseReason> | null
  /** The `user_id` of a member, or the label that an API key gave. */
  assignee: string | null
  priority: Open<CasePriority>
  /** Grows by one with each entry of the history. */
  version: number
  created_at: string
  updated_at: string
  closed_at: string | null
  /** First person who named suspected_fraud. */
  fraud_suspected_by: string | null
  /** Oldest first. */
  history: PacketCaseEntry[]
  /** Number of earlier entries that are left out. */
  history_omitted: number
}

export interface PacketCaseEntry {
  /** Version of the case that this entry created. */
  version: number
  kind: Open<CaseEntryKind>
  at: string
  from: Open<CaseStatus> | null
  to: Open<CaseStatus> | null
  reason_code: Open<CaseReason> | null
  note: string | null
  /** When the note was erased with its claim. */
  note_erased_at: string | null
  changes: CaseChange[]
  via: Open<PacketEntryVia>
  /**
   * Who acted. With an API key, the name that the caller stated; with a session, its user; null for the service itself.
   */
  actor: string | null
  api_key_id: string | null
  /** true: there is a note, which a key without the scope escalate does not see. */
  note_withheld: boolean
}

export interface PacketClaim {
  claim_id: string
  reference: string | null
  line: string | null
  loss_location: Position | null
  loss_at: string | null
  risk_status: Open<ClaimRiskStatus>
  risk_score: number | null
  provenance_status: Open<ProvenanceStatus> | null
  factor_codes: Open<FactorCode>[]
  advisory_codes: Open<AdvisoryCode>[]
  created_at: string
  updated_at: string
  erased_at: string | null
}

export interface PacketDevice {
  device_id: string
  name: string | null
  status: Open<DeviceStatus>
  hardware_tier: Open<HardwareTier>
  hardware: HardwareVerbatim | null
  certificate: CertificateVerbatim
  spki_sha256: string
  enrolled_at: string
  /** When the certificate expires. From then on the device counts as not enrolled. */
  expires_at: string
  revoked_at: string | null
  revoke_effective_at: string | null
  revoke_reason: string | null
  spki: string
}

export type PacketEntryVia = 'api_key' | 'session' | 'system'

export interface Passkey {
  passkeyId: string
  name: string
  /** Credential id in base64url. */
  credentialId: string
  algorithm: Open<PasskeyAlgorithm>
  /** Model of the authenticator; zeros where it is unknown. */
  aaguid: string
  /** Transports that the browser reported: `internal`, `usb`, `hybrid`. */
  transports: string[]
  /** true: the passkey may be copied to other devices of its owner. */
  backupEligible: boolean
  /** Whether the passkey was backed up at its last use, or when it was registered. */
  backedUp: boolean
  /** Counter of the last use; always 0 where the authenticator does not count. */
  counter: number
  createdAt: string
  lastUsedAt: string | null
}

export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

export interface PasskeyAssertion {
  /** Id of a challenge of POST /v1/intent/challenges. */
  challengeId: string
  response: PasskeyAssertionResponse
}

export interface PasskeyAssertionData {
  clientDataJSON: string
  authenticatorData: string
  signature: string
  userHandle?: string | null | undefined
}

export interface PasskeyAssertionResponse {
  id: string
  rawId: string
  type: 'public-key'
  authenticatorAttachment?: string | null | undefined
  response: PasskeyAssertionData
}

export interface PasskeyAttestationData {
  clientDataJSON: string
  attestationObject: string
  transports?: string[] | undefined
}

export interface PasskeyAuthenticatorSelection {
  residentKey: 'required'
  requireResidentKey: true
  userVerification: 'required'
}

export interface PasskeyChallenge {
  challengeId: string
  /** base64url of SHA-256 of the canonical JSON of action_hash, payload_hash, agent_session_id, device_id and a nonce. */
  challenge: string
  expiresAt: string
  /** Options for PublicKeyCredential.parseRequestOptionsFromJSON, and then navigator.credentials.get. */
  options: PasskeyRequestOptions
}

export interface PasskeyCreationOptions {
  challenge: string
  rp: PasskeyRelyingParty
  user: PasskeyUser
  pubKeyCredParams: PasskeyParameters[]
  timeout: number
  excludeCredentials: PasskeyDescriptor[]
  authenticatorSelection: PasskeyAuthenticatorSelection
  attestation: 'none'
}

export interface PasskeyDescriptor {
  type: 'public-key'
  id: string
  transports?: string[]
}

export interface PasskeyList {
  object: 'list'
  data: Passkey[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface PasskeyParameters {
  type: 'public-key'
  alg: number
}

export interface PasskeyRegistration {
  expiresAt: string
  /** Options for PublicKeyCredential.parseCreationOptionsFromJSON, and then navigator.credentials.create. */
  options: PasskeyCreationOptions
}

export interface PasskeyRegistrationResponse {
  id: string
  rawId: string
  type: 'public-key'
  authenticatorAttachment?: string | null | undefined
  response: PasskeyAttestationData
}

export interface PasskeyRelyingParty {
  id: string
  name: string
}

export interface PasskeyRequestOptions {
  challenge: string
  rpId: string
  timeout: number
  /** Allowed passkeys; empty: browsers offer the passkeys that they know. */
  allowCredentials: PasskeyDescriptor[]
  userVerification: 'required'
}

export interface PasskeyUser {
  id: string
  name: string
  displayName: string
}

export type PaymentStatus = 'open' | 'paid' | 'failed'

export interface PemCertificate extends Certificate {
  pem: string
}

export interface PendingDeliveries {
  count: number
  /** false: there are more deliveries than `count`, and there may be older ones. */
  isExact: boolean
  oldestCreatedAt: string | null
}

export type Permission = 'claims.read' | 'claims.submit' | 'claims.erase' | 'cases.read' | 'cases.write' | 'screening.read' | 'screening.use' | 'devices.read' | 'devices.write' | 'agents.read' | 'agents.write' | 'agents.suspend' | 'traces.read' | 'traces.write' | 'shares.write' | 'disclosures.read' | 'disclosures.decide' | 'texts.read' | 'texts.erase' | 'locks.read' | 'locks.write' | 'decisions.read' | 'decisions.facts' | 'policy.read' | 'policy.write' | 'intents.read' | 'intents.write' | 'intents.stop' | 'approvals.read' | 'approvals.decide' | 'passkeys.own' | 'mandates.read' | 'mandates.write' | 'schedules.read' | 'schedules.write' | 'prescribers.read' | 'prescribers.write' | 'prescribers.confirm' | 'orders.read' | 'orders.write' | 'orders.sign' | 'exclusions.write' | 'clinical_policy.write' | 'webhooks.read' | 'webhooks.write' | 'events.read' | 'keys.manage' | 'account.read' | 'account.write' | 'usage.read' | 'plan.write' | 'products.write' | 'team.read' | 'team.write' | 'sso.write' | 'audit.read' | 'account.export' | 'account.close' | 'session.own'

export interface PingData {
  webhook_endpoint_id: string
}

export interface PingEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'ping'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: PingData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export type Plan = 'developer' | 'growth' | 'enterprise'

export type PlanChange = 'current' | 'owner' | 'operator'

export interface PlanLimits {
  ratePerSecond: number
  burst: number
  /** Metered operations of the live environment in a month (UTC). */
  monthlyOperations: number
  /** true: requests beyond the number are refused with `monthly_cap_exceeded`; false: there are notices only. */
  isHardCap: boolean
  retentionDays: number
}

export interface Policy extends PolicyVersion {
  document: PolicyDocument
  /** The effect of `default_rules`, written as rules. */
  builtinRules: BuiltinPolicyRule[]
}

export interface PolicyAnalysis {
  findings: PolicyFinding[]
  /** false: there are more than 500 findings, or too many cases of rules to compare all. */
  complete: boolean
}

export interface PolicyApprovalRequirement {
  /** Default: `1`. */
  min_approvals?: number
  /** Roles; each approving person has one of them. Default: all three. */
  roles?: Open<ApproverRole>[]
  /** Default: `3600`. */
  ttl_seconds?: number
  /** Each approving person signs the action with a passkey. Default: `false`. */
  require_passkey?: boolean
}

export interface PolicyApprovals {
  /**
   * Only signed-in people decide approvals, and API keys do not; earlier votes of keys do not count. Default: true in
   * live, false in sandbox.
   */
  require_human_session?: boolean
  /**
   * The person who asked for the action, and the owner of the agent, can not decide it. Default: true in an account with
   * two or more members.
   */
  separation_of_duties?: boolean
}

export interface PolicyCanaryRequirement {
  set: string
  /** Families to read. Default: every family of the set. */
  families?: string[]
  mode: Open<CanaryMode>
  max_age_s?: number
  /** Only a traced inference of the agent itself satisfies the condition; an `inference_input` does not. */
  source?: 'inference'
}

export interface PolicyCondition {
  /**
   * A list holds when every condition holds. An object holds when every element of a list meets its condition. An empty
   * list always holds.
   */
  all?: PolicyCondition[] | PolicyQuantifier
  /**
   * A list holds when any condition holds. An object holds when any element of a list meets its condition. An empty list
   * never holds.
   */
  any?: PolicyCondition[] | PolicyQuantifier
  not?: PolicyCondition
  /** Field to compare, such as `context.transaction_amount`. A name that does not exist is refused. */
  field?: string
  op?: Open<PolicyOperator>
  value?: string | number | boolean | (string | number | boolean)[]
  /** IANA zone of `time.hour` and `time.weekday`. Default: UTC. */
  timezone?: string
}

export interface PolicyDefaultRules {
  /** `context.require_biometric` requires a token that is bound to a biometric. Default: `true`. */
  biometric_flag?: boolean
  /**
   * A transaction amount strictly above this value requires a hardware-attested device. null: no amount does. Default:
   * `500`.
   */
  hardware_above?: number | string | null
}

export interface PolicyDeviceFacts {
  /** Default: ``. */
  id?: string | undefined
  tier: HardwareTier
  /** Default: `true`. */
  enrolled?: boolean | undefined
}

/** The digest covers the names of the members. An unknown name is refused. */
export interface PolicyDocument {
  /** Default: `default`. */
  name?: string
  /** Default: `{}`. */
  default_rules?: PolicyDefaultRules
  approvals?: PolicyApprovals
  /**
   * Verify has to name the agent session, the device, the audience and the context evidence that the token is bound to:
   * an absent binding is answered as if it differed. Default: false.
   */
  require_bindings?: boolean
  /** Default: `[]`. */
  rules?: PolicyRule[]
}

export type PolicyEffect = 'deny' | 'biometric' | 'hardware' | 'tier' | 'canary' | 'webhook' | 'approval'

export interface PolicyFacts {
  action_type?: string | null | undefined
  action_description?: string | undefined
  action_payload?: Record<string, unknown> | undefined
  context?: Record<string, unknown> | undefined
  /** Context of authorize, where verify has another. */
  authorize_context?: Record<string, unknown> | undefined
  agent?: Record<string, unknown> | null | undefined
  /** Facts about the device. Default: a device that is not enrolled. */
  device?: PolicyDeviceFacts | undefined
  session?: Record<string, unknown> | undefined
  mandate?: Record<string, unknown> | null | undefined
  schedule?: Record<string, unknown> | null | undefined
  canary?: Record<string, unknown> | null | undefined
  /** Time of the decision. Default: now. */
  at?: string | undefined
  token?: PolicyTokenFacts | undefined
}

export interface PolicyFinding {
  code: Open<PolicyFindingCode>
  ruleId: string
  pointer: string
  otherRuleId?: string
  detail: string
}

export type PolicyFindingCode = 'always_denies' | 'never_matches' | 'shadowed_by' | 'conflicts_with' | 'unreachable_approval' | 'webhook_unreachable' | 'webhook_without_secret' | 'ineffective' | 'ineffective_when_missing' | 'unknown_policy_field'

export interface PolicyNeed {
  kind: Open<PolicyNeedKind>
  ruleId: string
  url?: string
  timeoutMs?: number
  set?: string
  families?: string[]
  mode?: Open<CanaryMode>
  maxAgeS?: number
  source?: 'inference'
}

export type PolicyNeedKind = 'webhook' | 'canary'

export type PolicyOperator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'not_in' | 'contains' | 'starts_with' | 'matches' | 'exists' | 'between'

export interface PolicyQuantifier {
  /** Field with the list, such as `action_payload.items`. A value of another type is an error. */
  in: string
  /** Name of an element in the fields of `when`: with `item`, the fields are `item` itself and `item.sku`. */
  as: string
  /** Condition that the element must meet. It may use fields of the policy too. */
  when: PolicyCondition
}

export interface PolicyRefusal {
  reason: string
  matchedRuleId: string
  kind: Open<PolicyRefusalKind>
  priority: number
  webhookReason?: string
  canarySet?: string
  canaryReadings?: unknown
}

/** default: a rule that follows from `default_rules`. */
export type PolicyRefusalKind = 'default' | 'deny' | 'biometric' | 'hardware' | 'tier' | 'canary' | 'webhook' | 'approval'

export interface PolicyReplay extends ReplayedDecisionList {
  /** Number of decisions that this page has examined, oldest first. */
  looked: number
  /** Time of the last examined decision. */
  lookedTo: string | null
  /** Number of decisions that would change: all are in `data`. */
  wouldChange: number
  /** Decisions that were refused before the policy was evaluated, or while the account was stopped. */
  unaffected: number
  /**
   * Decisions without a result: the document needs an answer that was not requested at that time, or no facts were
   * recorded.
   */
  unknown: number
  /** Decisions that each rule refused, and would refuse under the document in the request. */
  rules: ReplayedRule[]
}

export interface PolicyRequirement {
  deny?: true
  /** The token is bound to a biometric. */
  biometric?: true
  /** The device is hardware-attested: its tier is tee or higher. */
  hardware?: true
  min_tier?: Open<HardwareTier>
  /** Requires a canary reading. Without a reading, `strict` refuses and `best_effort` does not. */
  canary?: PolicyCanaryRequirement
  webhook?: PolicyWebhookRequirement
  /** Requires that people approve the action before it may run. */
  approval?: PolicyApprovalRequirement
}

export interface PolicyRule {
  id: string
  description?: string
  /** Priority; the lower number comes first. Default: `100`. */
  priority?: number
  /** Default: `true`. */
  enabled?: boolean
  /** true: the rule is evaluated and reported, and never decides. Default: `false`. */
  shadow?: boolean
  /** Condition of the rule. Default: always. */
  when?: PolicyCondition
  /**
   * For deny rules: a missing field counts as a match. When absent, a comparison with a missing field is false; in a
   * deny rule, `ne` and `not_in` are true.
   */
  on_missing?: Open<'match'>
  require: PolicyRequirement
  /** Reason that is answered in place of the code of the requirement. */
  reason?: string
}

export interface PolicyRuleResult {
  ruleId: string
  effect: Open<PolicyEffect>
  matched: boolean
  met: boolean
  shadow: boolean
  /** The condition met a value of the wrong type, or names no field: the rule counts as matched and unmet. */
  error?: string
  note?: string
}

export interface PolicyRuleResultVerbatim {
  rule_id: string
  effect: Open<PolicyEffect>
  matched: boolean
  met: boolean
  shadow: boolean
  /** The condition met a value of the wrong type, or names no field: the rule counts as matched and unmet. */
  error?: string
  note?: string
}

export interface PolicyShadowReport extends ShadowRuleList {
  from: string
  to: string
  /** Number of decisions that this page has examined, oldest first. */
  looked: number
  /** Time of the last examined decision. */
  lookedTo: string | null
}

export interface PolicySimulation {
  /** Version of the policy; null: the document in the request. */
  policyVersion: number | null
  wouldBeValid: boolean
  /** Reason of the first refusal; policy_webhook_pending where the result waits for a webhook. */
  reason: string | null
  matchedRuleId: string | null
  /** Refusals in the published order. */
  refusals: PolicyRefusal[]
  /** Results of every enabled rule, by priority and id. */
  results: PolicyRuleResult[]
  shadow: PolicyRuleResult[]
  /** Questions that verify would ask before it answers. */
  needs: PolicyNeed[]
}

export interface PolicyTokenFacts {
  biometric: boolean
}

export interface PolicyValidation {
  valid: boolean
  errors: FieldError[]
  /** Deny rules of a valid document that a missing field turns off. `analyze` finds these and more. */
  findings: PolicyFinding[]
}

export interface PolicyVersion {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  /** The version whose document this one repeats. */
  rolledBackTo: number | null
}

export interface PolicyVersionSummary extends PolicyVersion {
  name: string
  /** Number of rules. */
  rules: number
}

export interface PolicyVersionSummaryList {
  object: 'list'
  data: PolicyVersionSummary[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type PolicyWebhookDecision = 'allow' | 'deny'

export interface PolicyWebhookRequirement {
  url: string
  /** Default: `3000`. */
  timeout_ms?: number
}

export interface PolicyWebhookSecret {
  /** Time of the last rotation; null: there is no secret yet, and webhook rules deny. */
  rotatedAt: string | null
  rotatedBy: Actor | null
  /** When the previous secret stops signing; null when there is none. */
  previousExpiresAt: string | null
}

export type PolicyWebhookUnavailableCause = 'no_secret' | 'busy' | 'status_2xx' | 'status_3xx' | 'status_4xx' | 'status_5xx' | 'malformed' | 'policy_changed' | 'invalid_url' | 'refused_address' | 'dns_failed' | 'connect_failed' | 'tls_failed' | 'timeout' | 'reset' | 'invalid_response' | 'response_too_large' | 'aborted'

export interface Position {
  lat: number
  lng: number
}

export interface Prescriber {
  prescriberId: string
  userId: string
  npi: string
  first: string
  last: string
  dob: string | null
  /** Tier at this moment: facts, their expiry, a suspension and the passkeys of the user decide. */
  tier: PrescriberTier
  suspendedAt: string | null
  suspendedBy: Actor | null
  suspendedReason: Open<SuspensionReason> | null
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
}

export interface PrescriberFact {
  factId: string
  prescriberId: string
  kind: Open<PrescriberFactKind>
  /** entered counts for tiers 1 and 2; confirmed for tier 3 too; expired and ended for none. */
  status: Open<PrescriberFactStatus>
  /** Set for the kind identity. */
  method: Open<IdentityMethod> | null
  /** Set for the kind licence. */
  usState: Open<UsState> | null
  number: string | null
  /** Set for the kind dea. */
  schedules: Open<ControlledSchedule>[] | null
  expiresAt: string | null
  warnings: Open<PrescriberFactWarning>[]
  enteredBy: Actor
  enteredAt: string
  confirmedBy: Actor | null
  confirmedAt: string | null
  endedBy: Actor | null
  endedAt: string | null
  endedReason: Open<FactEndReason> | null
}

export type PrescriberFactKind = 'identity' | 'licence' | 'dea'

export interface PrescriberFactList {
  object: 'list'
  data: PrescriberFact[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type PrescriberFactStatus = 'entered' | 'confirmed' | 'expired' | 'ended'

/** dea_initial_differs: the second letter of the number is not the initial of the last name, nor 9. */
export type PrescriberFactWarning = 'dea_initial_differs'

export interface PrescriberList {
  object: 'list'
  data: Prescriber[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

/** 0 unverified, 1 identity verified, 2 licensed, 3 registered with the DEA. */
export type PrescriberTier = 0 | 1 | 2 | 3

export interface PreviewKillSwitchRequest {
  document: KillSwitchDocument
}

export interface PreviewedAgent {
  /** Agent; null: requests that named no agent. */
  agentId: string | null
  /** Checks that would have been refused, and inferences that would have been withheld. */
  refused: number
  /** Sessions and agents that would have been locked. */
  locks: number
}

export interface PreviewedFamily {
  family: string
  /** Checks that would have been refused, and inferences that would have been withheld. */
  refused: number
  /** Sessions and agents that would have been locked. */
  locks: number
  /** true: the family tripped and does not count, because its probe is experimental. */
  uncounted: number
}

export interface PreviewedReason {
  reason: Open<CheckReason>
  refused: number
}

export interface PreviewedRequests {
  checks: number
  inferences: number
}

export type ProbeKind = 'residual' | 'attention_provenance'

export type ProbeStatus = 'measured' | 'experimental'

export type Product = 'attest' | 'authorize' | 'trace'

export type ProvenanceStatus = 'verified' | 'attested_unverified' | 'unattested' | 'broken'

export interface PutEventConsumerRequest {
  /**
   * Position that the consumer received, such as `next_after`. When absent, a new consumer begins with the oldest stored
   * event.
   */
  position?: number | undefined
  /**
   * `after` of the answer that was processed. The report is 409 `consumer_moved` where another process has moved the
   * consumer meanwhile.
   */
  expectedPosition?: number | undefined
}

export interface ReadConversation {
  messages: ChatMessage[]
}

export interface ReadPrompt {
  prompt: string
}

/** A text is the message of a user. The kill switch names the model that reads it, and how far. */
export type ReadText = string | ReadPrompt | ReadConversation

export type ReadingSource = 'server' | 'client'

export interface ReasonCode {
  /** Code; it never changes its meaning. New codes are added. */
  code: string
  /**
   * Places where the code appears. verify: the `reason` of a verification; clinician_order: an order of a clinician;
   * factor: a risk factor, which adds points; advisory: a finding that never does; case: the reason of a case;
   * finish_reason: the end of a completion; ledger: an entry of the decision ledger.
   */
  places: Open<ReasonPlace>[]
  meaning: string
  /** Points that a factor adds to the risk score; null: none. */
  points: number | null
  /** What to do about the code. */
  remedy: string
}

export interface ReasonCodeList {
  object: 'list'
  data: ReasonCode[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ReasonPlace = 'verify' | 'clinician_order' | 'factor' | 'advisory' | 'case' | 'finish_reason' | 'ledger'

/** What verify answered at the time. */
export interface RecordedPolicyAnswer {
  valid: boolean
  reason: string | null
}

export interface RecoverWebhookEndpointRequest {
  /** Start: deliveries or events created at or after this time. */
  from: string
  /**
   * `failed`: deliveries whose attempts all failed. `missing`: events of the last 30 days that the endpoint never
   * accepted, including events from before it was registered. Default: `failed`.
   */
  which?: RecoveryKind | undefined
}

export interface RecoveryFailure {
  code: 'internal_error'
  detail: string
}

export type RecoveryKind = 'failed' | 'missing'

export interface Reevaluation {
  reevaluationId: string
  cause: Open<ReevaluationCause>
  deviceId?: string
  policyVersion?: number
  mediaSha256?: string
  /** succeeded: every affected attestation was re-evaluated, or counts as failed. */
  status: Open<WorkStatus>
  /** Set with `failed`: `attempts_exhausted`. The search ended, and an operator can start it again. */
  failure: ReevaluationFailure | null
  /** When all affected attestations were found; null while the search runs and `touched` grows. */
  searchedAt: string | null
  /** Number of attestations examined so far. */
  looked: number
  /** Number of attestations that are re-evaluated: the sum of the following five. */
  touched: number
  pending: number
  changed: number
  unchanged: number
  /** Attestations whose facts and media are no longer stored. */
  skipped: number
  /** Attestations that are not retried automatically: an operator can redrive them. */
  failed: number
  createdAt: string
  finishedAt: string | null
}

export type ReevaluationCause = 'device_revoked' | 'revocation_list' | 'policy_changed' | 'screening' | 'requested'

export interface ReevaluationFailure {
  code: 'attempts_exhausted'
  detail: string
}

export interface ReevaluationList {
  object: 'list'
  data: Reevaluation[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RefreshedLine {
  line: number
  deviceId: string
  provenTier: Open<HardwareTier>
}

export interface RegisterPasskeyRequest {
  /** Name for the owner. */
  name: string
  response: PasskeyRegistrationResponse
}

export interface RejectedLine {
  /** Number from 1: a line of NDJSON as an editor counts it, blank lines included, or an element of an array. */
  line: number
  errors: FieldError[]
}

export interface RejectedLineList {
  object: 'list'
  data: RejectedLine[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RejudgedClaim {
  claimId: string
  reference: string | null
  before: JudgedStanding
  after: JudgedStanding
  addedFactors: Open<FactorCode>[]
  removedFactors: Open<FactorCode>[]
  addedAdvisories: Open<AdvisoryCode>[]
  removedAdvisories: Open<AdvisoryCode>[]
}

export interface RejudgedClaimList {
  object: 'list'
  data: RejudgedClaim[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RenamePasskeyRequest {
  /** Name for the owner. */
  name: string
}

export interface RepeatedPrompt {
  prompt?: string | undefined
  messages?: ChatMessage[] | undefined
}

export interface ReplaceClinicalPolicyRequest {
  document: ClinicalPolicyDocument
}

export interface ReplaceKillSwitchRequest {
  document: KillSwitchDocument
}

export interface ReplacePolicyRequest {
  document: PolicyDocument
}

export interface ReplaceProductsRequest {
  products: Product[]
}

export interface ReplaceRiskPolicyRequest {
  document: RiskPolicyDocument
}

export interface ReplaceScreeningSettingsRequest {
  document: ScreeningSettingsDocument
}

export interface ReplacedResult {
  /** Number of the result; 1 is the first. */
  number: number
  evaluatedAt: string
  replacedAt: string
  /** Re-evaluations that replaced the result. */
  replacedFor: string[]
  riskStatus: Open<RiskStatus>
  riskScore: number
  provenanceStatus: Open<ProvenanceStatus>
  hardwareTier: Open<HardwareTier>
  rulesVersion: string
  policyVersion: number | null
  resultJws: string
  /** Revocation of the key that signed `result_jws`. */
  signingKeyRevoked?: KeyRevocation
}

export interface ReplacedResultList {
  object: 'list'
  data: ReplacedResult[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ReplayPolicyRequest {
  document: PolicyDocument
  /** Decisions made at or after this time. */
  from: string
  /** Decisions made before this time. */
  to: string
  /** Maximum number of changed decisions in the answer. Default: `100`. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

export interface ReplayedDecision {
  decisionId: string
  jti: string | null
  at: string
  before: RecordedPolicyAnswer
  after: ReplayedPolicyAnswer
}

export interface ReplayedDecisionList {
  object: 'list'
  data: ReplayedDecision[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ReplayedPolicyAnswer extends RecordedPolicyAnswer {
  matchedRuleId: string | null
}

export interface ReplayedRule {
  ruleId: string
  refusedBefore: number
  refusesAfter: number
}

export interface ReportOutcomeRequest {
  status: IntentOutcome
}

export interface RequestDisclosureRequest {
  /** Address; a code is mailed to it. */
  email: string
  /** Purpose, for the people who decide: at least 10 visible characters. */
  purpose: string
}

export interface RequestMagicLinkRequest {
  email: string
}

export interface RequestedBudgetChange {
  /** Limit in major units: a number or a decimal string, above 0, with at most 4 decimals. */
  limit: number | string
  currency?: string | undefined
  period?: BudgetPeriod | undefined
  /** Most executions in one period. */
  maxCount?: number | undefined
}

export interface RequestedMandateBudget {
  /** Limit in major units: a number or a decimal string, above 0, with at most 4 decimals. */
  limit: number | string
  currency: string
  period: BudgetPeriod
  /** Most executions in one period. */
  maxCount?: number | undefined
}

export interface RequestedMandateConstraints {
  /** Least amount of one action. */
  minAmount?: number | string | undefined
  /** Greatest amount of one action. */
  maxAmount?: number | string | undefined
  currency?: string | undefined
  actionTypes?: string[] | undefined
  counterparties?: string[] | undefined
  /** Times at which actions may run, in the mandate's time zone. */
  window?: MandateWindow | undefined
}

export interface RequestedMandateHeartbeat {
  /** Interval of check-ins. A check-in is missed 60 s after the interval. */
  intervalSeconds: number
  /**
   * Seconds after a missed check-in during which a check-in makes the mandate active again. When absent: 86400 in a new
   * heartbeat, and as it is in a change.
   */
  reactivationWindowSeconds?: number | undefined
}

export interface RequestedScheduleAmount {
  /** `fixed`: exactly this amount. `max`: at most this amount. */
  type: ScheduleAmountType
  /** Limit in major units: a number or a decimal string, above 0, with at most 4 decimals. */
  value: number | string
  currency: string
}

export interface RequiredApproval {
  approvalId: string
  status: Open<ApprovalStatus>
  minApprovals: number
  roles: Open<ApproverRole>[]
  requirePasskey: boolean
  ruleIds: string[]
  expiresAt: string
}

export interface RetireAgentRequest {
  reason: string
}

export type RevealedPlace = 'layer' | 'position'

export interface Revocation {
  revocationId: string
  scope: Open<RevokedScope>
  jti: string | null
  agentSessionId: string | null
  deviceId: string | null
  reason: string
  revokedBy: Actor
  /** Number of unexpired tokens that the revocation ended. */
  tokensRevoked: number
  createdAt: string
  expiresAt: string | null
}

export interface RevocationList {
  object: 'list'
  data: Revocation[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RevokeDeviceRequest {
  reason: string
  /** Who revokes the device, for its history. */
  actor?: string | undefined
  /** Captures accepted from this time on are not trusted. Now when absent; the time may be in the past. */
  effectiveAt?: string | undefined
}

export interface RevokeIntentsRequest {
  scope: RevokedScope
  /** Id of the token. */
  jti?: string | undefined
  agentSessionId?: string | undefined
  deviceId?: string | undefined
  /** Reason for people. The event has it; in the ledger it is sealed. */
  reason: string
  /** A session or device gets no new tokens until this time; when absent, it never gets new tokens. */
  expiresAt?: string | undefined
}

export interface RevokeMandateRequest {
  reason: string
}

export interface RevokedApiKey extends ApiKey {
  /** Pending invites that the key sent. */
  invitesRevoked: string[]
  /**
   * API keys that the key created, or that such keys created, and that still work: revoke them too, unless you know who
   * uses them.
   */
  keysCreated: string[]
  warnings: ApiKeyWarning[]
}

export type RevokedScope = 'token' | 'session' | 'device'

export interface RiskHistogram {
  passed: number
  review: number
  failed: number
}

export interface RiskPolicy {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  document: RiskPolicyDocument
}

export interface RiskPolicyDocument {
  /** true: a photo without a signed bundle is noted. */
  require_attestation: boolean
  /** true: a capture that no biometric gated is noted. */
  require_biometric: boolean
  /** true: a capture without a GPS fix is noted. */
  require_gps: boolean
  /** true: a bundle without a nonce raises session_nonce_mismatch, as it always does for video. Default: `false`. */
  require_session_nonce?: boolean
  /** Least score of a claim for review, and least score of a failed claim. */
  thresholds: RiskThresholds
  /** Metres that a capture may be away from the loss, less its own accuracy. */
  geofence_m: number
}

export interface RiskPolicyDryRun extends RejudgedClaimList {
  /** Number of claims that this page has examined. */
  looked: number
  /** Number of claims that would change: all are in `data`. */
  wouldChange: number
  /**
   * Number of claims without a result, because they need a new evaluation: older rules judged them, or they have very
   * many captures.
   */
  unknown: number
}

export interface RiskPolicyList {
  object: 'list'
  data: RiskPolicy[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type RiskStatus = 'passed' | 'review' | 'failed'

export interface RiskThresholds {
  review: number
  failed: number
}

export type Role = 'owner' | 'admin' | 'approver' | 'analyst' | 'developer'

export interface RoleEntry {
  role: Open<Role>
  permissions: RolePermission[]
}

export interface RoleEntryList {
  object: 'list'
  data: RoleEntry[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RolePermission {
  permission: string
  /** What a holder may do. */
  allows: string
  /** Environments in which the role has it. */
  environments: Open<Environment>[]
}

export interface RollBackPolicyRequest {
  /** The version to return to; 0 is the defaults. */
  version: number
}

export interface RootCa {
  rootCaId: string
  name: string
  certificate: PemCertificate
  createdAt: string
}

export interface RootCaList {
  object: 'list'
  data: RootCa[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface RotateApiKeyRequest {
  /** Default: `86400`. */
  gracePeriodSeconds?: number | undefined
}

export interface RotatePolicyWebhookSecretRequest {
  /** Seconds during which the previous secret signs as well. Default: a day. */
  graceSeconds?: number | undefined
}

export interface RotatedApiKey extends CreatedApiKey {
  predecessor: ApiKey
}

export interface RotatedPolicyWebhookSecret extends PolicyWebhookSecret {
  /** Shown now and never again. */
  secret?: string
  /** A replay of the rotation, without the secret. */
  secretShown?: false
}

export interface Schedule {
  scheduleId: string
  status: Open<ScheduleStatus>
  counterparty: string
  amount: ScheduleAmount
  /** One of `daily`, `weekly`, `monthly`, `quarterly` and `yearly`, or a recurrence rule of RFC 5545. */
  frequency: string
  anchorAt: string
  timezone: string
  windowSeconds: number
  occurrences: number
  consumeMissed: boolean
  /** Number of used occurrences; with `consume_missed`, missed occurrences are included. */
  used: number
  remaining: number
  /** Current cycle, whose window may have closed; null: the first cycle has not begun. */
  currentCycle: CurrentScheduleCycle | null
  /** First cycle that can be executed, now or later, unless the schedule stays paused; null: none. */
  nextCycle: ScheduleCycle | null
  lastExecution: ScheduleExecution | null
  createdBy: Actor
  createdAt: string
  /** Who last paused, resumed or cancelled the schedule. */
  statusChangedBy: Actor | null
  statusChangedAt: string | null
}

export interface ScheduleAmount {
  type: Open<ScheduleAmountType>
  /** Decimal amount. */
  value: string
  currency: string
}

export type ScheduleAmountType = 'fixed' | 'max'

export interface ScheduleCycle {
  /** Number of the cycle; 1 is the first. */
  cycle: number
  opensAt: string
  /** The cycle can be executed before this time. */
  closesAt: string
}

export type ScheduleCycleStatus = 'executed' | 'missed' | 'open' | 'upcoming' | 'cancelled'

export interface ScheduleExecution {
  cycle: number
  jti: string
  executedAt: string
}

export interface ScheduleList {
  object: 'list'
  data: Schedule[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface SchedulePreview {
  scheduleId: string
  status: Open<ScheduleStatus>
  /** Cycles: at most 24, and at most the remaining ones. */
  cycles: ScheduleCycle[]
}

export type ScheduleSource = 'request' | 'formulary' | 'table'

export type ScheduleStatus = 'active' | 'paused' | 'exhausted' | 'cancelled'

export interface ScimToken {
  scimTokenId: string
  last4: string
  status: Open<ScimTokenStatus>
  createdAt: string
  createdBy: Actor
  /** Exact to a minute. */
  lastUsedAt: string | null
  revokedAt: string | null
}

export interface ScimTokenList {
  object: 'list'
  data: ScimToken[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ScimTokenStatus = 'active' | 'revoked'

export interface ScoreBins {
  edges: number[]
  base: number[]
  target: number[]
}

export interface ScreenMediaRequest {
  /** A claim that gets the advisory codes of this screening. */
  claimId?: string | undefined
  media: MediaReference | InlineMedia | MediaAddress
}

export interface Screening {
  screeningId: string
  status: Open<WorkStatus>
  /** Why there is no score; null when there is a score, or the screening has not ended. */
  failure: ScreeningFailure | null
  claimId: string | null
  screeningBatchId: string | null
  batchLine: number | null
  mediaId: string
  mediaSha256: string
  /** Score from 0 to 1; null when the detector gave none. */
  genaiScore: number | null
  /** Score from 0 to 1; null when the detector gave none. */
  deepfakeScore: number | null
  /** Scores of single generators, highest first. */
  models: GeneratorScore[]
  /** A score is at or above `review`; null without a score. */
  reviewRecommended: boolean | null
  /** Advisory factors, which never count toward a risk score. */
  factors: AdvisoryFactor[]
  /** What the file itself declares about how it was made; not a score. */
  observations: Observation[]
  /** The detector that was asked, and the thresholds of the account at that time. */
  detector: ScreeningDetector | null
  /** true: the score is from an earlier screening of the same bytes. */
  isCached: boolean
  createdAt: string
  completedAt: string | null
  erasedAt: string | null
}

export interface ScreeningBatch {
  screeningBatchId: string
  status: Open<WorkStatus>
  /** A line that fails says why in its own screening. */
  failure: null
  accepted: number
  rejectedCount: number
  /** Accepted lines by status; their sum is `accepted`. */
  counts: WorkCounts
  createdAt: string
}

export interface ScreeningBatchList {
  object: 'list'
  data: ScreeningBatch[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ScreeningCode = 'ai_generated_likely' | 'deepfake_likely'

export interface ScreeningCompletedData {
  screening_id: string
  claim_id: string | null
  genai_score: number | null
  deepfake_score: number | null
  factors: Open<AdvisoryCode>[]
  detector: EventDetector
}

export interface ScreeningCompletedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'screening.completed'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: ScreeningCompletedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface ScreeningDetector {
  name: string
  version: string
  thresholds: ScreeningThresholds
}

export interface ScreeningFailure {
  code: Open<ScreeningFailureCode>
  detail: string
}

export type ScreeningFailureCode = 'no_detector' | 'detector_failed' | 'detector_refused' | 'detector_busy' | 'media_erased' | 'erased' | 'video' | 'content_type' | 'too_large' | 'unreadable'

export interface ScreeningLine {
  /** A claim that gets the advisory codes of this screening. */
  claimId?: string | undefined
  mediaId: string
}

export interface ScreeningList {
  object: 'list'
  data: Screening[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface ScreeningSettings {
  /** Version; 0: the defaults, before a change. */
  version: number
  /** SHA-256 of the canonical JSON (RFC 8785) of the document, hex. */
  digest: string
  /** null: the defaults. */
  changedAt: string | null
  /** null: the defaults. */
  changedBy: Actor | null
  document: ScreeningSettingsDocument
}

export interface ScreeningSettingsDocument {
  thresholds: ScreeningSettingsThresholds
}

export interface ScreeningSettingsThreshold {
  /** A score of at least this value recommends a review. */
  review: number
  /** A score of at least this value is an advisory factor. */
  likely: number
}

export interface ScreeningSettingsThresholds {
  genai: ScreeningSettingsThreshold
  deepfake: ScreeningSettingsThreshold
}

export interface ScreeningThreshold {
  review: number
  likely: number
}

export interface ScreeningThresholds {
  genai: ScreeningThreshold
  deepfake: ScreeningThreshold
}

export interface SearchResult {
  type: Open<SearchResultType>
  id: string
  /** Title for people: a reference, a name, an address, or the id. */
  title: string
}

export type SearchResultType = 'claim' | 'case' | 'attestation' | 'batch' | 'capture_session' | 'screening' | 'device' | 'root_ca' | 'c2pa_anchor' | 'agent' | 'agent_session' | 'session_lock' | 'trace' | 'trace_job' | 'model_diff' | 'trace_share' | 'mandate' | 'schedule' | 'approval' | 'revocation' | 'decision' | 'webhook_endpoint' | 'webhook_delivery' | 'api_key' | 'user' | 'invite'

export interface SearchResults {
  /** Results, at most five of each type. */
  data: SearchResult[]
  /** Types with more results: search for a longer text. */
  truncated: boolean
}

export interface SentPing {
  webhookEndpointId: string
  eventId: string
  deliveryId: string
}

export interface SentPosition {
  /** Degrees north, WGS 84. */
  lat: number
  /** Degrees east, WGS 84. */
  lng: number
}

export interface Session {
  sessionId: string
  user: SessionUser
  account: SessionAccount
  role: Open<Role>
  method: Open<SignInMethod>
  /** Environments that Service-Environment may name: only the sandbox when the link was shown and not mailed. */
  environments: Open<Environment>[]
  permissions: SessionPermissions
  /** Value of the header X-CSRF-Token for every request that changes something. */
  csrfToken: string
  createdAt: string
  /** Latest end of the session. */
  expiresAt: string
  /** The session ends after this many seconds without a request. */
  idleTimeoutSeconds: number
}

export interface SessionAccount {
  accountId: string
  name: string
  plan: Open<Plan>
  products: Open<Product>[]
}

export interface SessionLock {
  lockId: string
  status: Open<SessionLockStatus>
  /** Locked agent session; null: the agent is locked, whatever the session. */
  agentSessionId: string | null
  /** The registered agent that the lock suspends. */
  agentId: string | null
  /** Trace with the readings that tripped. */
  traceId: string | null
  trippedFamilies: string[]
  /** Which request found the trip. */
  source: Open<TripSource>
  /** Id of the token; set with `verify`. */
  jti: string | null
  /** Rule of the policy; set with `verify`. */
  matchedRuleId: string | null
  lockedAt: string
  clearedAt: string | null
  clearedBy: Actor | null
  note: string | null
  /** Whether clearing it resumed the agent. */
  agentUnsuspended: boolean | null
}

export interface SessionLockList {
  object: 'list'
  data: SessionLock[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type SessionLockStatus = 'locked' | 'cleared'

/** What this session may do, by environment. */
export interface SessionPermissions {
  sandbox: Open<Permission>[]
  live: Open<Permission>[]
}

export interface SessionUser {
  userId: string
  email: string
}

export interface ShadowRule {
  ruleId: string
  matched: number
  wouldDeny: number
  wouldAllow: number
  /** Decisions without an answer of the rule’s webhook or canary: shadow rules never ask. */
  shadowWebhookUnevaluated: number
  errors: number
  /** Number of valid decisions that the rule would have refused. */
  divergent: number
  /** Some of those decisions. */
  examples: string[]
}

export interface ShadowRuleList {
  object: 'list'
  data: ShadowRule[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type ShareScope = 'trace' | 'model_version'

export type ShareStatus = 'active' | 'expired' | 'revoked'

export interface ShareView {
  viewId: string
  shareId: string
  viewedAt: string
  /** Address of the viewer, truncated to /24 or /48. */
  network: string
  /** Request of the granted person; null: viewed with the token of the share. */
  requestId: string | null
  /** Whether the graph was shown. */
  graph: boolean
  maskedNodes: number
  disclosedNodes: number
}

export interface ShareViewList {
  object: 'list'
  data: ShareView[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface SharedDisclosure {
  requestId: string
  expiresAt: string
  /** Disclosed nodes of the graph. */
  nodeIds: string[]
}

export interface SharedView {
  shareId: string
  expiresAt: string
  trace: TraceReadings
  /** Number of neurons that are masked in this answer. */
  maskedNodes: number
  disclosureMode: Open<DisclosureMode>
  /** false: the graph shows the last position of the text, and all before it as one node for each message. */
  revealsPrompt: boolean
  /** Set with the token of a granted person. */
  disclosure: SharedDisclosure | null
  /** The manifest of the job, masked: the schema of circuit-tracer and Neuronpedia. */
  graph: AttributionManifest | null
}

export interface ShiftedNeuron {
  layer: number
  neuron: number
  base_mean: number
  target_mean: number
  effect: number
}

export type SignInMethod = 'magic_link' | 'operator_link' | 'invite' | 'sso'

export interface SignOrderRequest {
  /** Required where `needs.passkey` of the order says so, and for API keys. */
  passkeyAssertion?: PasskeyAssertion | undefined
}

export type SignatureAct = 'sign' | 'cosign'

export type SignatureMethod = 'passkey' | 'session'

export interface SignedEvidencePacket {
  object: 'evidence_packet'
  packet: EvidencePacket
  /** SHA-256 (hex) of the canonical packet (RFC 8785). */
  packetSha256: string
  /** A JWS (typ evidence-packet+jwt) over packet_sha256 and the digest of each part: docs/attest/evidence.md. */
  signature: string
}

export interface SigningStatement {
  version: string
  /** Show it to the signer (21 CFR 1311.140(a)(3)). */
  text: string
}

export interface SimulatePolicyRequest {
  /** Default: the stored policy. */
  document?: PolicyDocument | undefined
  /** Stored version to evaluate, in place of the current one. */
  version?: number | undefined
  /** Facts that verify would have. All members are optional. */
  input: PolicyFacts
  /**
   * Replies by rule id: what the policy webhook and the canaries would answer, and what people have approved. A webhook
   * without a reply is pending.
   */
  answers?: SimulatedAnswers | undefined
}

export interface SimulatedAnswers {
  /** Default: `{}`. */
  webhooks?: Record<string, 'unavailable' | SimulatedWebhookAnswer> | undefined
  /** Default: `{}`. */
  canaries?: Record<string, 'unavailable' | SimulatedCanaryAnswer> | undefined
  /** Rules whose approval is given. Default: `{}`. */
  approvals?: Record<string, 'covered'> | undefined
}

export interface SimulatedCanaryAnswer {
  tripped: boolean
  /** Default: `[]`. */
  families?: string[] | undefined
  /** Default: ``. */
  set?: string | undefined
  /** client: the reading can refuse, and satisfies no condition. Default: server. */
  source?: ReadingSource | undefined
}

export interface SimulatedWebhookAnswer {
  decision: PolicyWebhookDecision
  reason?: string | undefined
}

export interface SsoConfig {
  ssoConfigId: string
  issuer: string
  clientId: string
  clientSecretLast4: string
  /** For the registration of this client at the identity provider. */
  redirectUri: string
  /** Where people begin to sign in. */
  startUrl: string
  domain: string
  domainStatus: Open<SsoDomainStatus>
  domainRecord: SsoDomainRecord
  domainVerifiedAt: string | null
  domainCheckedAt: string | null
  /** The first login with this issuer, client and domain. */
  testedAt: string | null
  enforceSso: boolean
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
  changedAt: string
  changedBy: Actor
}

/** The TXT record that proves the domain. It has to stay. */
export interface SsoDomainRecord {
  name: string
  value: string
}

export type SsoDomainStatus = 'pending' | 'verified'

export interface StateLicense {
  usState: UsState
  number: string
  expiresAt: string
}

export interface Statement {
  /** Month in UTC, such as 2026-11. */
  month: string
  from: string
  /** End, exclusive. */
  to: string
  /** A statement no longer changes one hour after its month has ended. */
  status: Open<StatementStatus>
  operations: StatementLine[]
  /** Operations of the month; negative when more were given back than counted. */
  totalUnits: number
  /** `none`: no payment is collected. */
  paymentProcessor: string
  payment: StatementPayment | null
}

export interface StatementLine {
  operation: Open<MeteredOperation>
  /** Operations of the month; negative when more were given back than counted. */
  units: number
}

export interface StatementList {
  object: 'list'
  data: Statement[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface StatementPayment {
  status: Open<PaymentStatus>
  /** Page where a person pays, or sees that the statement was paid. */
  url: string | null
}

export type StatementStatus = 'open' | 'final'

export type StatisticsWindow = '24h' | '7d'

export interface StopIntentsRequest {
  reason: string
}

export interface StreamReference {
  /** Capture session whose chunks are the media. The submission closes the session. */
  captureSessionId: string
}

/** Submission as sent: the signature covers the bundle. */
export interface Submission {
  media_type: string
  claim?: unknown
  bundle?: unknown
  assertion?: string
  signature?: unknown
  certificate_chain?: string[]
  /** The capture session that the media were streamed to. */
  stream?: string
}

export interface SubmittedAttestation extends Attestation {
  submission: Submission
  /** What the certificates that were sent say, the device’s own first; without those that can’t be read. */
  certificates: Certificate[]
}

export interface SubmittedAttestationList {
  object: 'list'
  data: SubmittedAttestation[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface SubmittedBatch extends Batch {
  /** Refused lines, later at `GET /v1/claims/batches/{id}/rejected`. */
  rejected: RejectedLine[]
}

export interface SubmittedScreeningBatch extends ScreeningBatch {
  /** Refused lines, later at `GET /v1/media/screenings/batches/{id}/rejected`. */
  rejected: RejectedLine[]
}

export interface SuspendAgentRequest {
  reason: string
}

export interface SuspendPrescriberRequest {
  reason: SuspensionReason
}

export type SuspensionCause = 'manual' | 'lock'

export type SuspensionReason = 'excluded' | 'licence' | 'registration' | 'compromised' | 'left' | 'other'

export type TextRetention = 'hash' | 'text'

export interface TokenLogit {
  logit: number
  probability: number
}

export interface TokenUsage {
  promptTokens: number
  /** Number of generated tokens, withheld ones included. */
  completionTokens: number
}

export interface Trace extends TraceReadings {
  agentSessionId: string | null
  agentId: string | null
  /** Inference of the trace; null: the trace has only readings. */
  inference: TracedInference | null
  createdBy: Actor
}

export interface TraceCanaryTrippedData {
  trace_id: string | null
  canary_hash: string
  canary_readings: JudgedCanary[]
  tripped_families: string[]
  mode: Open<KillSwitchMode>
  source: Open<TripSource>
  agent_id: string | null
  agent_session_id: string | null
  lock_id: string | null
  /** Token of a verify; `matched_rule_id` is its rule. */
  jti: string | null
  matched_rule_id: string | null
}

export interface TraceCanaryTrippedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'trace.canary_tripped'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: TraceCanaryTrippedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface TraceDiff {
  diffId: string
  status: Open<WorkStatus>
  baseModel: string
  targetModel: string
  /** `default`, or the id of a set of your own. */
  evalSet: string
  seed: number
  thresholds: DiffThresholds
  /** Progress in prompts. */
  progress: DiffProgress
  pass: boolean | null
  verdict: Open<DiffVerdict> | null
  familiesDrifted: string[] | null
  /** SHA-256 of the report’s canonical JSON (RFC 8785), in hexadecimal. */
  reportHash: string | null
  failure: TraceDiffFailure | null
  createdBy: Actor
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
}

export interface TraceDiffCompletedData {
  diff_id: string
  status: Open<WorkEnd>
  base_model: string
  target_model: string
  pass: boolean
  verdict: Open<DiffVerdict> | null
  families_drifted: string[]
  report_hash: string | null
}

export interface TraceDiffCompletedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'trace.diff_completed'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: TraceDiffCompletedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface TraceDiffFailure {
  code: Open<TraceDiffFailureCode>
  detail: string
}

export type TraceDiffFailureCode = 'not_found' | 'backend_capability_missing' | 'service_unavailable'

export interface TraceDiffList {
  object: 'list'
  data: TraceDiff[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface TraceDiffReport {
  object: 'trace_diff_report'
  version: 1 | 2
  base: DiffModel
  target: DiffModel
  eval_set: DiffEvalSet
  settings: DiffSettings
  pass: boolean
  verdict: Open<DiffVerdict>
  families: DiffFamily[]
  families_drifted: string[]
  /** Families that have a probe in only one of the models. */
  families_uncompared: string[]
  /** Divergence of the target from the base, over the base’s completions. */
  next_token_kl: NextTokenDivergence
  /** Shifted neurons, largest effects first, in standard deviations. */
  shifted_neurons: ShiftedNeuron[]
  runtime: string | null
}

export interface TraceDisclosureGrantedData {
  request_id: string
  scope_kind: Open<ShareScope>
  trace_id: string
  model_version_id: string | null
  expires_at: string
  /** Who decided; the service where the share has the mode `auto`. */
  decided_by: Actor
}

export interface TraceDisclosureGrantedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'trace.disclosure_granted'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: TraceDisclosureGrantedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface TraceDisclosureRequestedData {
  request_id: string
  status: Open<DisclosureStatus>
  scope_kind: Open<ShareScope>
  trace_id: string
  model_version_id: string | null
}

export interface TraceDisclosureRequestedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'trace.disclosure_requested'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: TraceDisclosureRequestedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface TraceJobCompletedData {
  job_id: string
  trace_id: string
  status: Open<WorkEnd>
  method: Open<AttributionMethod>
  model_version_id: string
  /** Backend; null: the model no longer exists. */
  backend: Open<ModelBackend> | null
  manifest_hash: string | null
  failure_code: Open<AttributionJobFailureCode> | null
}

export interface TraceJobCompletedEvent {
  /** Id of the event, stable across retries. */
  eventId: string
  type: 'trace.job_completed'
  createdAt: string
  environment: Open<Environment>
  accountId: string
  data: TraceJobCompletedData
  /**
   * Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
   * seconds.
   */
  position?: number | null
}

export interface TraceList {
  object: 'list'
  data: Trace[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface TraceReadings {
  traceId: string
  /** client: a caller sent the readings. They can refuse and lock, and allow nothing. */
  source: Open<TraceSource>
  modelVersionId: string | null
  /** Canary readings; null: no probe read the inference. */
  canary: Canary | null
  createdAt: string
}

export interface TraceShare {
  shareId: string
  /** Name for people of the account. The holder of the token does not see it. */
  name: string | null
  status: Open<ShareStatus>
  traceId: string
  /** Attribution job whose graph is shared; null: only the readings are shared. */
  jobId: string | null
  modelVersionId: string | null
  scopeKind: Open<ShareScope>
  /**
   * Neurons that a grant unmasks: masked by this share and by earlier shares of the trace. Without `reveals_prompt` a
   * graph shows neurons of the last position alone.
   */
  maskedNodeIds: string[]
  maskRule: MaskRule | null
  reveal: Open<RevealedPlace>[]
  /** Whether single positions of the text are shown, and with them its words. */
  revealsPrompt: boolean
  disclosureMode: Open<DisclosureMode>
  /** Number of masked neurons that an earlier view of this trace may have shown. */
  shownBefore: number
  createdBy: Actor
  createdAt: string
  expiresAt: string
  revokedAt: string | null
  revokedBy: Actor | null
}

export interface TraceShareList {
  object: 'list'
  data: TraceShare[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export type TraceSource = 'client' | 'server'

export interface TraceTexts {
  traceId: string
  /** As the model got it, and as `prompt_hash` covers it: a conversation or a text. */
  input: TracedPrompt
  /** null where it was withheld: then it was never kept. */
  completion: string | null
  /** Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none. */
  toolCalls?: ModelToolCall[]
  /** canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended. */
  finishReason: Open<FinishReason>
  /** End of the time for which the texts are kept. */
  textUntil: string | null
}

export interface TracedInference {
  model: string
  /** canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended. */
  finishReason: Open<FinishReason>
  usage: TokenUsage
  maxTokens: number
  temperature: number
  /** Seed; with the same model version it gives the same completion. */
  seed: number
  /** SHA-256 of the RFC 8785 text of the input as the model got it. */
  promptHash: string
  /** SHA-256 of the completion, with its calls of tools; null where it was withheld. */
  completionHash: string | null
  /**
   * End of the time for which the texts are kept: 30 days, and no longer than the trace. null: only hashes are kept, or
   * the texts were erased.
   */
  textUntil: string | null
}

export interface TracedMessage {
  role: Open<ChatRole>
  content: string
}

export interface TracedPrompt {
  messages?: TracedMessage[]
  text?: string
}

export interface TracedToken {
  index: number
  /** The natural logarithm of its probability, at temperature 1. */
  logProbability: number
  /** Readings of the window that ends with this token. */
  readings: WindowScore[] | null
  /** Token; null where no text is kept. */
  token: number | null
  text: string | null
  /** For each layer, the tokens that the model would say before it; the last entry is after the last layer. */
  lens: LensToken[][] | null
}

export interface TracedTokenList {
  object: 'list'
  data: TracedToken[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface TransitionCaseRequest {
  to: CaseStatus
  reasonCode?: CaseReason | null | undefined
  note?: string | undefined
  /** The person who acts. Required with an API key. A session acts for its own user, and this is ignored. */
  actor?: string | undefined
  /** The `user_id` of a member who may work on cases; with an API key also any label. */
  assignee?: string | undefined
  version?: number | undefined
}

export type TripSource = 'verify' | 'inference' | 'check'

export type UnavailableCause = 'unknown_model' | 'no_probes' | 'other_set' | 'input_refused' | 'too_late' | 'model_unavailable' | 'over_cap'

export interface UnexecutedIntent {
  jti: string
  /** Decision of the authorization. */
  decisionId: string
  authorizedAt: string
  /** Why a verification at that time would have refused. */
  preflightReason: string | null
  agentId: string | null
  agentSessionId: string | null
  deviceId: string | null
  mandateId: string | null
  scheduleId: string | null
  approvalId: string | null
  /** Last verification; null: the token was never presented. */
  lastVerification: LastVerification | null
}

export interface UnexecutedIntentList {
  object: 'list'
  data: UnexecutedIntent[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface UpdateAccountRequest {
  /** Name for people, in mails and pages. */
  name: string
}

export interface UpdateAgentRequest {
  name?: string | undefined
  /** Who answers for the agent: an e-mail address, a team, an id. */
  owner?: string | undefined
  /** P-256 or Ed25519 key as JWK. */
  publicKey?: AgentPublicKey | null | undefined
  /** The object replaces the stored one. */
  metadata?: Record<string, unknown> | undefined
}

export interface UpdateApiKeyRequest {
  name?: string | undefined
  /** The list replaces the stored one. null: the key is accepted from every address. */
  ipAllow?: string[] | null | undefined
}

export interface UpdateCaseRequest {
  /** The person who acts. Required with an API key. A session acts for its own user, and this is ignored. */
  actor?: string | undefined
  version?: number | undefined
  assignee?: string | null | undefined
  priority?: CasePriority | undefined
  dueAt?: string | undefined
}

export interface UpdateDeviceRequest {
  name: string | null
}

export interface UpdateOrderRequest {
  /** Your reference of the patient, such as `Patient/123`. Sealed at rest. */
  patientRef?: string | undefined
  encounterRef?: string | null | undefined
  medication?: OrderedMedicationRequest | undefined
  quantity?: OrderedQuantityRequest | undefined
  refills?: number | undefined
  /** Directions for use. */
  sig?: string | undefined
  usState?: UsState | null | undefined
  actionPayload?: Record<string, unknown> | null | undefined
}

export interface UpdatePrescriberRequest {
  /** National Provider Identifier. When its check digit is wrong, the error says what the last digit would be. */
  npi?: string | undefined
  first?: string | undefined
  last?: string | undefined
  /** Birth date. Without one, entries of the LEIE that have the name are reviewed and never matched. */
  dob?: string | null | undefined
}

export interface UpdateSecretRequest {
  /** Seconds during which the previous secret signs as well. Default: `86400`. */
  graceSeconds?: number | undefined
}

export interface UpdateSsoConfigRequest {
  /** As in its discovery document, to the last slash. */
  issuer: string
  clientId: string
  /** Kept when absent, where issuer and client stay. */
  clientSecret?: string | undefined
  /** Of the e-mail addresses of the organization. */
  domain: string
  /** Users of the domain sign in by single sign-on only, without owners. false when absent. */
  enforceSso?: boolean | undefined
}

export interface UpdateTraceShareRequest {
  /** Name of the share; null removes it. */
  name?: string | null | undefined
  /** End of the share; only an active share can change it. */
  expiresAt?: string | undefined
}

export interface UpdateWebhookEndpointRequest {
  url?: string | undefined
  eventTypes?: EventSubscription[] | undefined
  /** Description for people. */
  description?: string | undefined
  /** Your own names and values. The object replaces the stored one. */
  metadata?: Record<string, string> | undefined
  /** Most deliveries per second; null: no limit of the endpoint. */
  maxPerSecond?: number | null | undefined
  /** Most concurrent deliveries. */
  maxConcurrency?: number | undefined
  /** `enabled` enables a disabled endpoint again. */
  status?: WebhookEndpointStatus | undefined
}

export type UsState = 'AL' | 'AK' | 'AS' | 'AZ' | 'AR' | 'CA' | 'CO' | 'CT' | 'DE' | 'DC' | 'FL' | 'GA' | 'GU' | 'HI' | 'ID' | 'IL' | 'IN' | 'IA' | 'KS' | 'KY' | 'LA' | 'ME' | 'MD' | 'MA' | 'MI' | 'MN' | 'MS' | 'MO' | 'MT' | 'NE' | 'NV' | 'NH' | 'NJ' | 'NM' | 'NY' | 'NC' | 'ND' | 'MP' | 'OH' | 'OK' | 'OR' | 'PA' | 'PR' | 'RI' | 'SC' | 'SD' | 'TN' | 'TX' | 'UT' | 'VT' | 'VA' | 'VI' | 'WA' | 'WV' | 'WI' | 'WY'

export interface Usage extends MonthUse {
  operations: OperationUse[]
}

export interface UsageDay {
  /** Day in UTC, such as 2026-11-20. */
  day: string
  /** Operations of the month; negative when more were given back than counted. */
  units: number
}

export interface User {
  userId: string
  email: string
  role: Open<Role>
  status: Open<UserStatus>
  createdAt: string
  lastLoginAt: string | null
  deprovisionedAt: string | null
}

export type UserAuthentication = 'none' | 'credential' | 'biometric' | 'either'

export interface UserList {
  object: 'list'
  data: User[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface UserRemoval extends User {
  /** Number of the user’s sessions that ended. */
  sessionsEnded: number
  /** Pending invites that the user sent and could not send any more; after a removal also those to the address. */
  invitesRevoked: string[]
  /** API keys that the user created, or that such keys created, and that still work: revoke those that only they know. */
  keysCreated: string[]
}

export interface UserRoleChange extends UserRemoval {
  /** Previous role; null where this request changed nothing. */
  previousRole: Open<Role> | null
}

export type UserStatus = 'active' | 'deprovisioned'

export interface ValidatePolicyRequest {
  /** Document as for PUT /v1/policy. Pointers of errors and findings begin at the document. */
  document: Record<string, unknown>
}

export interface VerifyDisclosureRequestRequest {
  code: string
}

export interface VerifyIntentRequest {
  intentToken: string
  actionDescription: string
  /** At most 64 KiB as canonical JSON (RFC 8785) and 32 levels. */
  actionPayload: Record<string, unknown>
  /** Facts that rules of the policy read as `context`. `transaction_amount` and `require_biometric` have a meaning. */
  context?: Record<string, unknown> | undefined
  /** Evidence that is hashed and not stored. At most 64 KiB as canonical JSON. */
  contextEvidence?: Record<string, unknown> | string | undefined
  traceId?: string | undefined
  /** Input that a model of the service reads within 5 seconds, where a condition of the policy asks for canaries. */
  inferenceInput?: ReadText | undefined
  agentSessionId?: string | undefined
  deviceId?: string | undefined
  audience?: string | undefined
  counterparty?: string | undefined
  /** Default: `true`. */
  execute?: boolean | undefined
  /** Default: `false`. */
  receipt?: boolean | undefined
}

export interface VerifyMagicLinkRequest {
  token: string
}

export interface VerifyResult {
  valid: boolean
  /**
   * null when valid; else one of `invalid_token`, `approval_denied`, `approval_expired`, `token_expired`,
   * `token_revoked`, `session_canary_locked`, `agent_suspended`, `action_hash_mismatch`, `payload_hash_mismatch`,
   * `context_hash_mismatch`, `canary_reading_mismatch`, `token_already_executed`, `mandate_revoked`, `mandate_expired`,
   * `mandate_heartbeat_lapsed`, `mandate_constraint_violated`, `mandate_budget_exceeded`,
   * `schedule_counterparty_mismatch`, `schedule_amount_exceeded`, `schedule_already_executed`,
   * `schedule_occurrences_exhausted`, `schedule_window_missed`, `prescriber_excluded`, `order_declined`,
   * `prescriber_tier_insufficient`, `controlled_substance_cosign_required`, `biometric_required`,
   * `hardware_required_above_500`, `policy_denied`, `policy_biometric_required`, `policy_hardware_required`,
   * `policy_tier_required`, `canary_tripped`, `canary_unavailable`, `policy_webhook_denied`,
   * `policy_webhook_unavailable`, `approval_pending`, or a policy rule’s own reason. When several reasons apply, the
   * first in this order is answered.
   */
  reason: string | null
  detail: string
  jti: string | null
  decisionId: string
  evaluatedAt: string
  /**
   * true: an earlier verification executed the action; with a single use, a mandate, a schedule or an approval, it was
   * by this caller with this Idempotency-Key. Do not run the action again.
   */
  alreadyExecuted?: boolean
  approvalId?: string
  matchedRuleId?: string
  webhookReason?: string
  /**
   * Check that gave no answer, so that its rule refuses; set also where the rule has a reason of its own. webhook: the
   * policy webhook; canary: there is no reading of `canary_set`.
   */
  unavailableCheck?: Open<PolicyNeedKind>
  /** Set with the check `webhook`: why the webhook gave no answer. */
  webhookUnavailableCause?: Open<PolicyWebhookUnavailableCause>
  revokedScope?: Open<RevokedScope>
  lockId?: string
  canarySet?: string
  canaryReadings?: Record<string, unknown>[]
  mandateDetail?: MandateDetail
  /** Remainder of the budgets of the mandate and its ancestors after this decision; null without a budget. */
  mandateRemaining?: string | null
  /** The current cycle; null before the first. */
  scheduleCycle?: number | null
  /** JWS by a record key, where the request asked for it; null when it could not be signed now. */
  receipt?: string | null
}

export interface VideoManifest {
  chunk_count?: number | undefined
  total_bytes?: number | undefined
  duration_us?: number | undefined
  codec?: string | undefined
  /** Units of the container’s time per second. */
  timescale?: number | undefined
  /** The session’s nonce. */
  chain_seed?: string | undefined
  chunks?: ({ /** Index from 0. */
  index?: number | undefined; sha256?: string | undefined; bytes?: number | undefined; frames?: number | undefined; /** Start in microseconds. */
  first_pts_us?: number | undefined; /** End in microseconds, exclusive: the next chunk begins there. */
  last_pts_us?: number | undefined; link?: string | undefined })[] | undefined
  last_link?: string | undefined
}

export interface WantedMaskRule {
  layers?: number[] | undefined
  /** RE2 pattern, which matches anywhere in the label. */
  labelPattern?: string | undefined
  /** Number of the most influential neurons to mask. */
  topInfluence?: number | undefined
}

/** open: after consecutive failures, deliveries are parked and use no attempts. half_open: one delivery is tried. */
export interface WebhookCircuit {
  status: Open<WebhookCircuitStatus>
  openedAt: string | null
  /** When the next delivery is tried. */
  probeAt: string | null
}

export type WebhookCircuitStatus = 'closed' | 'open' | 'half_open'

export type WebhookDisabledReason = 'gone' | 'failing' | 'manual'

export interface WebhookEndpoint {
  webhookEndpointId: string
  url: string
  eventTypes: Open<EventSubscription>[]
  description: string
  metadata: Record<string, string>
  maxPerSecond: number | null
  maxConcurrency: number
  status: Open<WebhookEndpointStatus>
  /** gone: the endpoint answered 410. failing: it failed for five days. manual: a person or a key disabled it. */
  disabledReason: Open<WebhookDisabledReason> | null
  disabledAt: string | null
  circuit: WebhookCircuit
  /** Time exact to a minute. */
  lastSuccessAt: string | null
  createdAt: string
  secretRotatedAt: string | null
  /** When the previous secret stops signing; null when there is none. */
  previousSecretExpiresAt: string | null
  /** Counts the changes made by `PATCH`. The `ETag` has it. */
  version: number
  /** Delivery statistics, in the list with `window`. */
  statistics?: WebhookEndpointStatistics
}

export interface WebhookEndpointList {
  object: 'list'
  data: WebhookEndpoint[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface WebhookEndpointStatistics {
  webhookEndpointId: string
  window: Open<StatisticsWindow>
  /** Start of a whole hour. */
  from: string
  to: string
  attempts: number
  delivered: number
  /** Number of attempts without a 2xx. */
  failed: number
  /** `delivered` divided by attempts; null without attempts. */
  successRate: number | null
  arrivalMs: DurationQuantiles
  responseMs: DurationQuantiles
  pending: PendingDeliveries
}

export type WebhookEndpointStatus = 'enabled' | 'disabled'

export interface WebhookRecovery {
  recoveryId: string
  webhookEndpointId: string
  which: Open<RecoveryKind>
  /** Start: the recovery sends deliveries or events created at or after this time. */
  from: string
  /** End of the range, exclusive. */
  to: string
  /** cancelled: the endpoint was disabled or deleted meanwhile. */
  status: Open<WorkStatus>
  failure: RecoveryFailure | null
  /** Number of deliveries or events examined so far. */
  examined: number
  /** Number of deliveries that are sent again, or for the first time. */
  sent: number
  createdBy: Actor
  createdAt: string
  updatedAt: string
  finishedAt: string | null
}

export interface WebhookRecoveryList {
  object: 'list'
  data: WebhookRecovery[]
  hasMore: boolean
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
  /** With `include=total_count`. It counts no further than its maximum. */
  totalCount?: number
}

export interface WindowScore {
  family: string
  score: number
}

export interface WorkCounts {
  queued: number
  running: number
  succeeded: number
  failed: number
  cancelled: number
}

export type WorkEnd = 'succeeded' | 'failed'

export type WorkStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled'

/** The arguments of account.audit.export. */
export interface ExportAuditEntriesQuery {
  action?: AuditAction | readonly AuditAction[] | undefined
  /** Id of the key or user that acted. */
  actorId?: string | undefined
  /** Id of the object that was changed or read. */
  subjectId?: string | undefined
  environment?: Environment | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
}

/** The arguments of account.audit.list. */
export interface ListAuditEntriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  action?: AuditAction | readonly AuditAction[] | undefined
  /** Id of the key or user that acted. */
  actorId?: string | undefined
  /** Id of the object that was changed or read. */
  subjectId?: string | undefined
  environment?: Environment | undefined
}

/** The arguments of account.exports.list. */
export interface ListAccountExportsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of account.exports.retrieve. */
export interface GetAccountExportQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of account.invoices.list. */
export interface ListStatementsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of account.keys.list. */
export interface ListApiKeysQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: ApiKeyStatusFilter | readonly ApiKeyStatusFilter[] | undefined
}

/** The arguments of account.reevaluations.list. */
export interface ListReevaluationsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  cause?: ReevaluationCause | readonly ReevaluationCause[] | undefined
}

/** The arguments of account.reevaluations.retrieve. */
export interface GetReevaluationQuery {
  wait?: number | undefined
}

/** The arguments of account.riskPolicy.listVersions. */
export interface ListRiskPolicyVersionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of account.usage.retrieve. */
export interface GetUsageQuery {
  /** Month in UTC; the current one when absent. */
  month?: string | undefined
}

/** The arguments of agents.list. */
export interface ListAgentsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: AgentStatus | readonly AgentStatus[] | undefined
  owner?: string | undefined
}

/** The arguments of agents.sessions.list. */
export interface ListAgentSessionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: AgentSessionStatus | undefined
}

/** The arguments of agents.sessions.listAll. */
export interface ListAllAgentSessionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: AgentSessionStatus | undefined
  agentId?: string | undefined
}

/** The arguments of analytics.approvals.retrieve. */
export interface ReportApprovalsQuery {
  /** Start, inclusive; 30 days before `to` when absent, at most 366. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of analytics.claims.retrieve. */
export interface AnalyzeClaimsQuery {
  /** Start, inclusive; 30 days before `to` when absent, at most 92. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of analytics.decisions.retrieve. */
export interface AnalyzeDecisionsQuery {
  /** Start, inclusive; 30 days before `to` when absent, at most 92. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of analytics.factors.retrieve. */
export interface AnalyzeFactorsQuery {
  /** Start, inclusive; 30 days before `to` when absent, at most 92. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of analytics.mandateSpend.list. */
export interface ReportMandateSpendQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Start, inclusive; 30 days before `to` when absent, at most 366. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
  mandateId?: string | undefined
}

/** The arguments of analytics.unexecuted.list. */
export interface ReportUnexecutedQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Start, inclusive; 30 days before `to` when absent, at most 366. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of approvals.list. */
export interface ListApprovalsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: ApprovalStatus | readonly ApprovalStatus[] | undefined
  /** `me`: pending approvals that the signed-in person may decide and has not decided. */
  awaiting?: 'me' | undefined
  jti?: string | undefined
  agentSessionId?: string | undefined
}

/** The arguments of approvals.retrieve. */
export interface GetApprovalQuery {
  /** Seconds to wait while it is pending. */
  wait?: number | undefined
}

/** The arguments of auth.scimTokens.list. */
export interface ListScimTokensQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of auth.sessions.list. */
export interface ListSessionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of cases.counts.retrieve. */
export interface CountCasesQuery {
  /** `me`: cases of the user of the session. `none`: cases without an assignee. */
  assignee?: string | undefined
}

/** The arguments of cases.entries.list. */
export interface ListCaseEntriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of cases.list. */
export interface ListCasesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  /** `created` when absent. With `due` the list has open cases only. */
  orderBy?: CaseOrder | undefined
  /** `me`: cases of the user of the session. `none`: cases without an assignee. */
  assignee?: string | undefined
  status?: CaseStatus | readonly CaseStatus[] | undefined
  priority?: CasePriority | readonly CasePriority[] | undefined
  reasonCode?: CaseReason | readonly CaseReason[] | undefined
  claimId?: string | undefined
  dueGte?: string | undefined
  dueLt?: string | undefined
  overdue?: Flag | undefined
  claimChanged?: Flag | undefined
}

/** The arguments of claims.attestations.list. */
export interface ListAttestationsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of claims.attestations.listResults. */
export interface ListReplacedResultsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of claims.attestations.retrieve. */
export interface GetAttestationQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of claims.batches.list. */
export interface ListBatchesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of claims.batches.listRejected. */
export interface ListRejectedLinesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of claims.batches.results. */
export interface DownloadBatchResultsQuery {
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** `pending` includes lines that are still queued. */
  include?: 'pending' | undefined
}

/** The arguments of claims.batches.retrieve. */
export interface GetBatchQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of claims.captures.list. */
export interface ListCaptureSessionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: CaptureSessionStatus | readonly CaptureSessionStatus[] | undefined
  /** Sessions that only this device may use. */
  deviceId?: string | undefined
}

/** The arguments of claims.duplicates.list. */
export interface ListDuplicatesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of claims.evidence.retrieve. */
export interface ExportEvidenceQuery {
  /** Takes precedence over Accept. */
  format?: EvidenceFileFormat | undefined
  /** Most attestations, newest first; 100 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of claims.list. */
export interface ListClaimsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  /** `created` when absent. With `score` the list has evaluated claims only. */
  orderBy?: ClaimOrder | undefined
  reference?: string | undefined
  externalId?: string | undefined
  batchId?: string | undefined
  riskStatus?: ClaimRiskStatus | readonly ClaimRiskStatus[] | undefined
  provenanceStatus?: ProvenanceStatus | readonly ProvenanceStatus[] | undefined
  /** Claims with at least this score. */
  riskScoreGte?: number | undefined
  /** Claims below this score. */
  riskScoreLt?: number | undefined
  line?: string | readonly string[] | undefined
  /** `true`: claims with an open case. `false`: claims without one. */
  hasCase?: Flag | undefined
  /** Updated at or after this time. */
  updatedGte?: string | undefined
  /** Updated before this time. */
  updatedLt?: string | undefined
  factor?: AnyFactorCode | undefined
  deviceId?: string | undefined
}

/** The arguments of claims.timeline.list. */
export interface ListClaimTimelineQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.exclusionImports.list. */
export interface ListExclusionImportsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  list?: ExclusionListName | undefined
  status?: WorkStatus | readonly WorkStatus[] | undefined
}

/** The arguments of clinical.exclusionImports.retrieve. */
export interface GetExclusionImportQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of clinical.exclusionLists.importLeie. */
export interface ImportLeieQuery {
  /** Name that the publisher gave the file: it tells the date of the list. */
  fileName?: string | undefined
  /** Accepts an older list, or one with fewer rows. Owners only. Default: `false`. */
  force?: Flag | undefined
  kind?: ExclusionFileKind | undefined
}

/** The arguments of clinical.exclusionLists.importSam. */
export interface ImportSamQuery {
  /** Name that the publisher gave the file: it tells the date of the list. */
  fileName?: string | undefined
  /** Accepts an older list, or one with fewer rows. Owners only. Default: `false`. */
  force?: Flag | undefined
}

/** The arguments of clinical.exclusionReviews.list. */
export interface ListExclusionReviewsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: ExclusionReviewStatus | readonly ExclusionReviewStatus[] | undefined
  list?: ExclusionListName | undefined
  /** `prs_test_` or `prs_live_` and 26 characters. */
  prescriberId?: string | undefined
}

/** The arguments of clinical.exclusionScreenings.list. */
export interface ListExclusionScreeningsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: WorkStatus | readonly WorkStatus[] | undefined
}

/** The arguments of clinical.exclusionScreenings.listChanges. */
export interface ListExclusionChangesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.facts.list. */
export interface ListPrescriberFactsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.formularyEntries.list. */
export interface ListFormularyEntriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.incidentReports.list. */
export interface ListIncidentReportsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.orders.list. */
export interface ListOrdersQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: OrderStatus | readonly OrderStatus[] | undefined
  prescriberId?: string | undefined
  schedule?: DrugSchedule | readonly DrugSchedule[] | undefined
}

/** The arguments of clinical.policyVersions.list. */
export interface ListClinicalPolicyVersionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of clinical.prescribers.list. */
export interface ListPrescribersQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  userId?: string | undefined
  /** National Provider Identifier. When its check digit is wrong, the error says what the last digit would be. */
  npi?: string | undefined
}

/** The arguments of decisions.checkpoints.list. */
export interface ListLedgerCheckpointsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of decisions.consistency.retrieve. */
export interface GetLedgerConsistencyQuery {
  /** The older size; 1 when absent. */
  from?: number | undefined
  /** The newer size; the size of the newest checkpoint when absent. */
  to?: number | undefined
}

/** The arguments of decisions.export. */
export interface ExportLedgerQuery {
  /** The last position that the caller has. */
  after?: number | undefined
}

/** The arguments of decisions.list. */
export interface ListDecisionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  kind?: DecisionKind | readonly DecisionKind[] | undefined
  reason?: string | readonly string[] | undefined
  /** Id of the subject of the decision. */
  subjectId?: string | undefined
  /** Id of an intent token. */
  jti?: string | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
  deviceId?: string | undefined
  mandateId?: string | undefined
  scheduleId?: string | undefined
  traceId?: string | undefined
  /** The rule of the policy that gave the answer. */
  matchedRuleId?: string | undefined
}

/** The arguments of decisions.proof.retrieve. */
export interface GetDecisionProofQuery {
  /** Size of the tree; the size of the newest checkpoint when absent. */
  size?: number | undefined
}

/** The arguments of devices.history.list. */
export interface GetDeviceHistoryQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of devices.list. */
export interface ListDevicesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  /** `created` when absent. With `expires` and `order=asc` the list begins with the device that expires first. */
  orderBy?: DeviceOrder | undefined
  status?: DeviceStatus | readonly DeviceStatus[] | undefined
  hardwareTier?: HardwareTier | undefined
  /** The certificate expires at or after. */
  expiresGte?: string | undefined
  /** The certificate expires before. */
  expiresLt?: string | undefined
}

/** The arguments of devices.roots.list. */
export interface ListRootCasQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of events.consumers.list. */
export interface ListEventConsumersQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of events.list. */
export interface ListEventsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  eventType?: EventType | readonly EventType[] | undefined
  /**
   * Id of the subject of the events: a claim, case, attestation, screening, agent session, agent, intent token, device,
   * trace or diff.
   */
  subjectId?: string | undefined
}

/** The arguments of events.pull. */
export interface PullEventsQuery {
  /** Position to read after; when absent, the oldest stored event comes first. */
  after?: number | undefined
  /** Reads from the position of this consumer, in place of `after`. */
  consumer?: string | undefined
  eventType?: EventType | readonly EventType[] | undefined
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** Seconds to wait for an event where there is none; same as `Prefer: wait=`. */
  wait?: number | undefined
}

/** The arguments of intent.list. */
export interface ListIntentsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: IntentTokenStatus | readonly IntentTokenStatus[] | undefined
  agentId?: string | undefined
}

/** The arguments of intent.revocations.list. */
export interface ListRevocationsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  scope?: RevokedScope | readonly RevokedScope[] | undefined
  /** Id of a token, an agent session or a device. */
  subjectId?: string | undefined
}

/** The arguments of mandates.list. */
export interface ListMandatesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: MandateStatus | readonly MandateStatus[] | undefined
  /** The only agent that may act under the mandate. */
  agentId?: string | undefined
  /** Children of this mandate, without further descendants. */
  parentId?: string | undefined
}

/** The arguments of mandates.spend.retrieve. */
export interface GetMandateSpendQuery {
  /** Start, inclusive; 30 days before `to` when absent, at most 45. */
  from?: string | undefined
  /** End, exclusive; now when absent. */
  to?: string | undefined
}

/** The arguments of media.c2paAnchors.list. */
export interface ListC2paAnchorsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of org.invites.list. */
export interface ListInvitesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: InviteStatus | readonly InviteStatus[] | undefined
  role?: Role | readonly Role[] | undefined
}

/** The arguments of org.users.list. */
export interface ListUsersQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: UserStatus | readonly UserStatus[] | undefined
  role?: Role | readonly Role[] | undefined
}

/** The arguments of overview.search. */
export interface SearchEverythingQuery {
  /**
   * The beginning of an id, a claim reference, an external id, the e-mail address of a member, or the name of an agent.
   */
  q: string
}

/** The arguments of passkeys.list. */
export interface ListPasskeysQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of policy.shadowReport.list. */
export interface GetShadowReportQuery {
  /** Decisions made at or after this time; default: a week before `to`. */
  from?: string | undefined
  /** Decisions made before this time; default: now. */
  to?: string | undefined
  /** `next_cursor` of the page before; send the same `from` and `to` again. */
  cursor?: string | undefined
}

/** The arguments of policy.versions.list. */
export interface ListPolicyVersionsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of schedules.cycles.list. */
export interface ListScheduleCyclesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Start, inclusive; a week before today (UTC) when absent, at most 31 days before `to`. */
  from?: string | undefined
  /** End, exclusive; two weeks after `from` when absent. */
  to?: string | undefined
}

/** The arguments of schedules.list. */
export interface ListSchedulesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: ScheduleStatus | readonly ScheduleStatus[] | undefined
  /** Exact name of the counterparty. */
  counterparty?: string | undefined
}

/** The arguments of screenings.batches.list. */
export interface ListScreeningBatchesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
}

/** The arguments of screenings.batches.listRejected. */
export interface ListRejectedScreeningLinesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of screenings.batches.retrieve. */
export interface GetScreeningBatchQuery {
  wait?: number | undefined
}

/** The arguments of screenings.list. */
export interface ListScreeningsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  claimId?: string | undefined
  mediaId?: string | undefined
  screeningBatchId?: string | undefined
  status?: WorkStatus | readonly WorkStatus[] | undefined
  factor?: ScreeningCode | undefined
}

/** The arguments of screenings.retrieve. */
export interface GetScreeningQuery {
  wait?: number | undefined
}

/** The arguments of trace.diffs.list. */
export interface ListTraceDiffsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: WorkStatus | readonly WorkStatus[] | undefined
  verdict?: DiffVerdict | readonly DiffVerdict[] | undefined
}

/** The arguments of trace.diffs.retrieve. */
export interface GetTraceDiffQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of trace.disclosures.list. */
export interface ListDisclosureRequestsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  status?: DisclosureStatus | readonly DisclosureStatus[] | undefined
  shareId?: string | undefined
}

/** The arguments of trace.evalSets.list. */
export interface ListEvalSetsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of trace.jobs.list. */
export interface ListAttributionJobsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `trc_test_` or `trc_live_` and 26 characters. */
  traceId?: string | undefined
  status?: WorkStatus | readonly WorkStatus[] | undefined
}

/** The arguments of trace.jobs.retrieve. */
export interface GetAttributionJobQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of trace.jobs.retrieveManifest. */
export interface GetAttributionManifestQuery {
  /** Names neurons by the word that circuit-tracer’s scores count. */
  compat?: 'circuit-tracer' | undefined
}

/** The arguments of trace.locks.list. */
export interface ListSessionLocksQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  /** `desc` (newest first) when absent. */
  order?: ListOrder | undefined
  status?: SessionLockStatus | readonly SessionLockStatus[] | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
}

/** The arguments of trace.shares.list. */
export interface ListTraceSharesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: ShareStatus | readonly ShareStatus[] | undefined
  traceId?: string | undefined
}

/** The arguments of trace.shares.listViews. */
export interface ListShareViewsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  requestId?: string | undefined
}

/** The arguments of trace.tokens.list. */
export interface ListTraceTokensQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Number of tokens to show of each layer. Needs retained text, and a limit of at most 20. */
  lens?: number | undefined
}

/** The arguments of trace.traces.list. */
export interface ListTracesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  source?: TraceSource | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
  /** Inferences of this model. */
  model?: string | undefined
  finishReason?: FinishReason | readonly FinishReason[] | undefined
}

/** The arguments of webhooks.deliveries.export. */
export interface ExportDeliveriesQuery {
  status?: DeliveryStatus | readonly DeliveryStatus[] | undefined
  eventType?: EventType | readonly EventType[] | undefined
  /** Deliveries to this endpoint only. */
  webhookEndpointId?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
}

/** The arguments of webhooks.deliveries.list. */
export interface ListAllDeliveriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: DeliveryStatus | readonly DeliveryStatus[] | undefined
  eventType?: EventType | readonly EventType[] | undefined
  /** Deliveries to this endpoint only. */
  webhookEndpointId?: string | undefined
}

/** The arguments of webhooks.deliveries.listForEndpoint. */
export interface ListDeliveriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: DeliveryStatus | readonly DeliveryStatus[] | undefined
  eventType?: EventType | readonly EventType[] | undefined
}

/** The arguments of webhooks.list. */
export interface ListWebhookEndpointsQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** Created at or after this time. */
  createdGte?: string | undefined
  /** Created before this time. */
  createdLt?: string | undefined
  include?: 'total_count' | undefined
  status?: WebhookEndpointStatus | readonly WebhookEndpointStatus[] | undefined
  /** Adds `statistics` to each endpoint. */
  window?: StatisticsWindow | undefined
}

/** The arguments of webhooks.recoveries.list. */
export interface ListRecoveriesQuery {
  /** Most items of a page; 20 when absent. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

/** The arguments of webhooks.recoveries.retrieve. */
export interface GetRecoveryQuery {
  /** Seconds to wait until it has ended. */
  wait?: number | undefined
}

/** The arguments of webhooks.stats.retrieve. */
export interface GetWebhookEndpointStatisticsQuery {
  /** Default: `24h`. */
  window?: StatisticsWindow | undefined
}
