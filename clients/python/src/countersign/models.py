# Written by `npm run clients` from the routes of the service: change those.
"""What the service answers. Members that this version does not know are kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag
from typing_extensions import TypeAlias

from . import literals
from ._model import AnswerModel, tag_of

class SessionAccount(AnswerModel):
    account_id: str
    name: str
    plan: literals.Plan | str
    products: list[literals.Product | str]


class Account(SessionAccount):
    created_at: str
    closed_at: str | None
    """null: the account is open."""
    erased_after: str | None
    """For a closed account: until then the closure can be undone."""
    environments: list[AccountEnvironment]
    limits: PlanLimits
    notices: list[AccountNotice]
    """Of this month, oldest first."""
    version: int
    """Counts the changes of its name, plan and products. It is in the `ETag`."""


class AccountClosure(AnswerModel):
    account_id: str
    closed_at: str | None
    """null: the account is open."""
    closed_by: Actor | None
    erased_after: str | None
    """Until then the closure can be undone."""


class AccountEnvironment(AnswerModel):
    environment: literals.Environment | str
    is_metered: bool


class AccountExport(AnswerModel):
    export_id: str
    status: literals.WorkStatus | str
    failure: ExportFailure | None
    includes_media: bool
    requested_by: Actor
    progress: ExportProgress
    size: int | None
    """Bytes of the archive."""
    sha256: str | None
    """SHA-256 of the archive, in hexadecimal."""
    created_at: str
    finished_at: str | None
    expires_at: str | None
    """The archive can be downloaded until then."""


class AccountExportList(AnswerModel):
    object: Literal["list"] | str
    data: list[AccountExport]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class AccountNotice(AnswerModel):
    kind: literals.AccountNoticeKind | str
    """80 % or 100 % of the monthly operations were used."""
    month: str
    """In UTC, such as 2026-11."""
    plan: literals.Plan | str
    cap: int
    used: int
    created_at: str


class AccountPlan(AnswerModel):
    plan: literals.Plan | str
    limits: PlanLimits
    usage: MonthUse
    plans: list[OfferedPlan]


class AccountProducts(AnswerModel):
    products: list[literals.Product | str]
    version: int
    """Counts the changes of what can be changed by `PATCH`. It is in the `ETag`."""


class Actor(AnswerModel):
    type: literals.ActorType | str
    """user: a member of the account; key: an API key; agent: a registered agent; operator: the operator of the
    deployment; service: the service by itself; directory: the identity provider of the account.
    """
    id: str | None
    """The `usr_`, `key_` or `agt_` id; null for the other types."""
    label: str | None
    """A user's e-mail address; the person whom the caller of a key named, otherwise the key's name; an agent's name.
    null when the row is gone, and in events, which contain nothing personal.
    """


class AdvisoryFactor(AnswerModel):
    """A finding that never counts toward the risk score."""

    code: literals.AdvisoryCode | str
    evidence: FactorEvidence


class Agent(AnswerModel):
    agent_id: str
    name: str
    owner: str
    status: literals.AgentStatus | str
    suspensions: list[AgentSuspension]
    """The causes that hold. The agent is active when there are none, unless it is retired."""
    retired_at: str | None
    """It is permanent."""
    retired_by: Actor | None
    retired_reason: str | None
    public_key: AgentPublicKey | None
    public_key_thumbprint: str | None
    """RFC 7638, SHA-256."""
    metadata: dict[str, Any]
    version: int
    """Counts the changes of what can be changed by `PATCH`. It is in the `ETag`."""
    created_by: Actor
    created_at: str
    updated_at: str


class AgentList(AnswerModel):
    object: Literal["list"] | str
    data: list[Agent]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class AgentSession(AnswerModel):
    agent_session_id: str
    agent_id: str
    status: literals.AgentSessionStatus | str
    metadata: dict[str, Any]
    created_by: Actor
    created_at: str
    ended_by: Actor | None
    ended_at: str | None


class AgentSessionList(AnswerModel):
    object: Literal["list"] | str
    data: list[AgentSession]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class AgentSuspension(AnswerModel):
    cause: literals.SuspensionCause | str
    lock_id: str | None
    """With the cause `lock`: clear this lock to lift it."""
    reason: str | None
    suspended_by: Actor
    suspended_at: str


class AndroidHardware(AnswerModel):
    security_level: literals.AndroidSecurityLevel | str
    attestation_version: int | float
    keymint_version: int | float
    provisioning: literals.AndroidProvisioning | str
    """How the vendor’s key came into the device."""
    boot_state: literals.AndroidBootState | str | None
    device_locked: bool | None
    os_version: int | float | None
    os_patch_level: str | None
    vendor_patch_level: str | None
    boot_patch_level: str | None
    os_patch_age_days: int | float | None
    """When the evidence was verified."""
    user_authentication: literals.UserAuthentication | str
    """How the hardware says the key is unlocked. `either`: it does not say by which of the two."""
    auth_timeout_seconds: int | float | None
    packages: list[AndroidPackage]
    signing_digests: list[str]
    brand: str | None
    model: str | None


class AndroidPackage(AnswerModel):
    name: str | None
    version: int | float


class ApiKey(AnswerModel):
    api_key_id: str
    name: str
    prefix: str
    """The first 8 characters of the key."""
    last4: str | None
    """Its last 4."""
    scopes: list[literals.GrantableScope | str]
    environment: literals.Environment | str
    plan: literals.Plan | str
    status: literals.ApiKeyStatus | str
    created_at: str
    created_by: Actor | None
    """Who made it."""
    expires_at: str | None
    revoked_at: str | None
    """For a rotated key: when its grace period was over."""
    last_used_at: str | None
    """Exact to a minute."""
    grace_expires_at: str | None
    """For a rotated key: until when it is accepted."""
    ip_allow: list[str] | None
    """null: accepted from every address."""
    products: list[literals.Product | str] | None
    """Whose routes it may call, within its scopes; null: those of every product."""
    read_only: bool
    """It reads, within its scopes, and changes nothing but the positions of its event consumers."""
    replaced_by_api_key_id: str | None
    """The key that a rotation made."""
    replaces_api_key_id: str | None
    """The key whose rotation made this one."""
    version: int
    """Counts the changes of what can be changed by `PATCH`. It is in the `ETag`."""


class ApiKeyList(AnswerModel):
    object: Literal["list"] | str
    data: list[ApiKey]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ApiKeyWarning(AnswerModel):
    code: Literal["last_admin_key"] | str
    detail: str


class AppleHardware(AnswerModel):
    app_attest_environment: literals.AppAttestEnvironment | str
    app_id: str | None
    app_attest_key_id: str
    counter: int | float


class ApprovalSummary(AnswerModel):
    approval_id: str
    status: literals.ApprovalStatus | str
    resolution: literals.ApprovalResolution | str | None
    """What ended it: a person, its expiry, or a revocation of the token, the session or the device."""
    jti: str
    origin: literals.ApprovalOrigin | str
    """`verify`: the policy was tightened after the token had been issued."""
    rules: list[ApprovedRule]
    """What it is for: the first 20 rules in lists, else the first 100. An approval covers a rule of the policy while
    the rule has this hash.
    """
    rules_omitted: int
    """How many more rules it is for."""
    min_approvals: int
    """Distinct people."""
    roles: list[literals.ApproverRole | str]
    """Who may decide."""
    require_passkey: bool
    separation_of_duties: bool
    """Who asked for the action, and the owner of the agent, can not decide it."""
    action_description: str
    action_hash: str
    """SHA-256 of the description, base64url, as the token has it."""
    payload_hash: str
    """SHA-256 of the canonical JSON of the payload."""
    preview_hash: str
    """SHA-256 of the canonical JSON of the `payload_preview` of the event."""
    agent_id: str | None
    agent_session_id: str
    device_id: str
    mandate_id: str | None
    schedule_id: str | None
    requested_by: Actor | None
    """The user who asked for the action, where one is known."""
    authorized_by: Actor
    """The API key or user that authorized the action."""
    created_at: str
    expires_at: str
    decided_at: str | None
    decisions: list[ApprovalDecision]
    approve_url: str
    """The page where people decide."""


class Approval(ApprovalSummary):
    action_payload: dict[str, Any]
    missing: list[MissingApprovals]
    """While it is pending: how many more people with one of the roles have to approve. All entries must be met."""


class ApprovalAgeClass(AnswerModel):
    from_seconds: int
    to_seconds: int | None
    """null: without an end."""
    total: int
    by_status: ApprovalCounts


class ApprovalCounts(AnswerModel):
    pending: int
    approved: int
    denied: int
    expired: int
    cancelled: int


class ApprovalDecision(AnswerModel):
    by: Actor
    """The user, also where a key spoke for them."""
    via: literals.ApprovalVia | str
    """How they decided. `api_key`: a key spoke for them."""
    decision: literals.ApprovalVote | str
    comment: str | None
    """Of a denial: its reason."""
    at: str


class ApprovalDecisionData(AnswerModel):
    by: Actor
    via: literals.ApprovalVia | str
    decision: literals.ApprovalVote | str
    at: str


class ApprovalReport(AnswerModel):
    from_: str = Field(alias="from")
    """Of the approvals that were counted."""
    to: str
    """Exclusive."""
    age_classes: list[ApprovalAgeClass]
    seconds_to_decide: ApprovalSeconds
    """Of what people approved or denied."""
    oldest_pending: OldestApproval | None


class ApprovalRequestedData(AnswerModel):
    approval_id: str
    jti: str
    rule_id: str
    action_description: str
    payload_preview: dict[str, Any]
    action_hash: str
    payload_hash: str
    preview_hash: str
    min_approvals: int
    expires_at: str
    approve_url: str


class ApprovalRequestedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["approval.requested"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ApprovalRequestedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class ApprovalResolvedData(AnswerModel):
    approval_id: str
    jti: str
    status: literals.ApprovalEnd | str
    decisions: list[ApprovalDecisionData]
    resolution: literals.ApprovalResolution | str


class ApprovalResolvedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["approval.resolved"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ApprovalResolvedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class ApprovalSeconds(AnswerModel):
    p50: int | float | None
    p95: int | float | None


class ApprovalSummaryList(AnswerModel):
    object: Literal["list"] | str
    data: list[ApprovalSummary]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ApprovedRule(AnswerModel):
    rule_id: str
    rule_hash: str
    """SHA-256 of its canonical JSON, base64url."""
    description: str | None
    """Of the rule, in the words of its author; null in lists. GET /v1/approvals/{id} has it."""


class AskedDisclosure(AnswerModel):
    request_id: str
    status: literals.DisclosureStatus | str
    expires_at: str
    """Of the code; once it is verified, of the request; once it is granted, of the grant."""


class Attestation(AnswerModel):
    attestation_id: str
    claim_id: str
    status: literals.WorkStatus | str
    """`succeeded`: it is evaluated, whatever the result."""
    external_id: str | None
    batch_id: str | None
    media_id: str
    device_id: str | None
    accepted_at: str
    provenance_status: literals.ProvenanceStatus | str | None = None
    risk_status: literals.RiskStatus | str | None = None
    risk_score: int | None = None
    factors: list[Factor] | None = None
    advisory_factors: list[AdvisoryFactor] | None = None
    observations: list[Observation] | None = None
    hardware_tier: literals.HardwareTier | str | None = None
    evaluated_at: str | None = None
    rules_version: str | None = None
    policy_version: int | None = None
    """Of the risk policy that it was judged by; 0: the defaults."""
    result_jws: str | None = None
    """The result, signed: verify it against /.well-known/jwks.json."""
    signing_key_revoked: KeyRevocation | None = None
    """Of the key that signed `result_jws`."""
    failure: AttestationFailure | None
    """Why the evaluation failed; POST …/retry starts it again."""
    erased_at: str | None = None
    """When its media and positions were erased; the signed result stays."""


class AttestationCreatedData(AnswerModel):
    attestation_id: str
    claim_id: str
    risk_score: int
    risk_status: literals.RiskStatus | str
    provenance_status: literals.ProvenanceStatus | str
    factor_codes: list[literals.FactorCode | str]
    advisory_codes: list[literals.AdvisoryCode | str]


class AttestationCreatedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["attestation.created"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: AttestationCreatedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class AttestationFailure(AnswerModel):
    code: Literal["evaluation_failed"] | str
    detail: str


class AttributedToken(AnswerModel):
    position: int
    token: int | None
    """null: the one that the model said there."""


class AttributionJob(AnswerModel):
    job_id: str
    trace_id: str
    model_version_id: str
    status: literals.WorkStatus | str
    progress: int | float
    """0 to 1."""
    method: literals.AttributionMethod | str
    target: AttributedToken
    max_feature_nodes: int
    max_n_logits: int
    desired_logit_prob: int | float
    node_threshold: int | float
    edge_threshold: int | float
    failure: AttributionJobFailure | None
    result: AttributionResult | None
    created_by: Actor
    created_at: str
    started_at: str | None
    finished_at: str | None


class AttributionJobFailure(AnswerModel):
    code: literals.AttributionJobFailureCode | str
    detail: str


class AttributionJobList(AnswerModel):
    object: Literal["list"] | str
    data: list[AttributionJob]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class AttributionLink(AnswerModel):
    source: str
    target: str
    weight: int | float
    """What the source adds to the target’s value."""


class AttributionManifest(AnswerModel):
    metadata: AttributionMetadata
    """`svc` has what this service adds: hashes, the sum check, verified nodes."""
    qParams: AttributionQueryParameters
    nodes: list[AttributionNode]
    links: list[AttributionLink]


class AttributionMetadata(AnswerModel):
    slug: str
    scan: str
    prompt: str
    prompt_tokens: list[str]


class AttributionNode(AnswerModel):
    node_id: str
    feature: int | None
    layer: str
    """`E`, or a whole number; that of logits is one above the last."""
    ctx_idx: int
    feature_type: str
    jsNodeId: str
    clerp: str
    """The label."""
    influence: int | float | None = None
    activation: int | float | None = None
    token_prob: int | float | None = None
    is_target_logit: bool | None = None


class AttributionQueryParameters(AnswerModel):
    pass


class AttributionResult(AnswerModel):
    manifest_hash: str
    """Hexadecimal SHA-256 of the manifest’s bytes, which are RFC 8785 text."""
    manifest_bytes: int
    manifest_until: str
    """Until when the manifest is kept: 30 days, and no longer than its trace."""
    nodes: int
    links: int
    links_found: int | None
    """As many as the thresholds ask for; 200000 are kept at most."""
    sum_check: AttributionSumCheck | None
    """null: the method is approximate."""
    remainder_share: int | float
    """The share of the total effect of all neurons that no named neuron has."""
    replacement_score: int | float | None
    """null: the method is approximate."""
    completeness_score: int | float | None
    """null: the method is approximate."""
    verified: AttributionVerification
    """How far ablations of the top nodes agree with the graph."""


class AttributionSumCheck(AnswerModel):
    max_abs_error: int | float
    rows: int


class AttributionVerification(AnswerModel):
    nodes: int
    same_sign: int | float
    correlation: int | float | None


class AuditEntry(AnswerModel):
    audit_entry_id: str
    at: str
    action: literals.AuditAction | str
    environment: literals.Environment | str | None
    """null: the whole account."""
    actor: Actor
    from_: AuditOrigin = Field(alias="from")
    """Members that are not known are null: all of an act of the service itself, or of an operator."""
    request_id: str | None
    subject_id: str | None
    before: Any | None
    after: Any | None
    """Of a read: what was read."""


class AuditEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[AuditEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class AuditOrigin(AnswerModel):
    ip: str | None
    user_agent: str | None


class Authorization(AnswerModel):
    intent_token: str | None
    """ES256 token, to be presented as it is. null only in a replay after its expiry."""
    jti: str
    expires_at: str
    approval_id: str | None = None
    """Of the approval that the policy requires. Until people have approved, verify answers `approval_pending`."""
    approval: RequiredApproval | None = None
    bindings: IntentBindings
    preflight: IntentPreflight
    """What verify would answer now. It uses nothing up, and can change until then."""


class BatchSummary(AnswerModel):
    batch_id: str
    status: literals.WorkStatus | str
    """`cancelled`: it was, and what had started has ended too."""
    failure: None
    """A line that fails says why in its own attestation."""
    accepted: int
    counts: WorkCounts
    """Accepted lines by status; their sum is `accepted`."""
    rejected_count: int
    repeated_count: int
    """Accepted lines that had been submitted before: they stand for the same attestation."""
    created_at: str
    cancelled_at: str | None


class Batch(BatchSummary):
    settled: int
    """Lines that have ended: succeeded, failed or cancelled. At `accepted`, the batch is done."""
    risk_histogram: RiskHistogram
    rate_per_second: int | float | None
    """Evaluations of the last half minute; null when there were none."""
    estimated_finish_at: str | None


class BatchResult(Attestation):
    line: int
    cursor: str
    """Resumes after this line."""
    is_repeat: bool


class BatchResultsEnd(AnswerModel):
    object: Literal["cursor"] | str
    next_cursor: str | None
    """Goes on with the first line that had not ended; null when all have."""
    is_complete: bool


class BatchSummaryList(AnswerModel):
    object: Literal["list"] | str
    data: list[BatchSummary]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class BuiltinPolicyRule(AnswerModel):
    id: str
    description: str
    priority: int
    enabled: bool
    shadow: bool
    when: PolicyCondition
    require: PolicyRequirement
    reason: str


class C2paAnchor(AnswerModel):
    c2pa_anchor_id: str
    name: str
    certificate: PemCertificate
    created_at: str


class C2paAnchorList(AnswerModel):
    object: Literal["list"] | str
    data: list[C2paAnchor]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class Canary(AnswerModel):
    set: str
    readings: list[CanaryReading]
    hash: str
    reading_at: str
    runtime: str | None
    """What computed the readings, as their hash has it; null where a client sent them."""
    tripped_families: list[str]


class CanaryCheck(AnswerModel):
    allowed: bool
    """Go on only when this is true."""
    action: literals.CheckAction | str
    reason: literals.CheckReason | str | None
    """What was found. Under `monitor` it is allowed nevertheless."""
    unavailable_cause: literals.UnavailableCause | str | None
    """Why a model of the service has no reading of `inference_input`."""
    stale: bool
    """The reading is older than `max_age_s`."""
    reading_age_s: int | float | None
    mode: literals.KillSwitchMode | str
    """`off` also for an agent that `apply_to` leaves out."""
    tripped_families: list[str]
    uncounted_families: list[str]
    """Tripped too, and not counted: their probes are experimental. `allow_experimental` counts them."""
    lock_id: str | None
    """The lock in force."""
    decision_id: str
    """The entry of the decision ledger."""
    trace_id: str | None
    canary_hash: str | None
    runtime: str | None
    """What computed the readings, as their hash has it; null where a client sent them."""


class CanaryProbe(AnswerModel):
    family: str
    kind: literals.ProbeKind | str
    layer: int | None
    threshold: int | float
    status: literals.ProbeStatus | str
    """experimental: it misses the bar of its family, failed a control, or trips on benign completions of the model
    itself.
    """
    held_out: HeldOutFigures
    """On completions that a script wrote."""
    generated: GeneratedRuns | None
    """On benign completions that the model made itself; null: it was not measured."""
    known_failures: list[str]


class CanaryProbeSet(AnswerModel):
    set: str
    version: str
    families: list[CanaryProbe]


class JudgedCanary(AnswerModel):
    family: str
    score: int | float
    threshold: int | float
    tripped: bool


class CanaryReading(JudgedCanary):
    """`tripped` is by this threshold. The kill switch may name another."""

    raw: int | float | None
    probe_version: str | None
    layer: int | None
    aggregator: str | None
    n_tokens: int | None
    probe_status: literals.ProbeStatus | str | None = None
    """What the card of the probe says. Absent from readings that a client sent."""


class CancelledBatch(Batch):
    cancelled: int
    """Lines that this call has cancelled."""


class CappedCount(AnswerModel):
    count: int
    capped: bool
    """There may be more: `count` goes no further."""


class CaptureSession(AnswerModel):
    capture_session_id: str
    status: literals.CaptureSessionStatus | str
    """closed: it was submitted and accepts no more chunks."""
    device_id: str | None
    claim_reference: str | None
    issued_at: str
    expires_at: str
    attestation_id: str | None
    """The capture that used its nonce."""
    media_id: str | None
    """The video that was made of its chunks."""
    content_type: literals.MediaContentType | str | None
    """As the first chunk said it."""
    chunk_count: int
    total_bytes: int


class CaptureSessionList(AnswerModel):
    object: Literal["list"] | str
    data: list[CaptureSession]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class CaptureStream(CaptureSession):
    next_index: int
    """The first index that has not arrived."""
    received: list[ChunkRun]
    """Runs of indices."""


class Case(AnswerModel):
    case_id: str
    claim_id: str
    claim_reference: str | None
    risk_status: literals.ClaimRiskStatus | str
    """Of the claim."""
    risk_score: int | None
    """Of the claim."""
    status: literals.CaseStatus | str
    reason_code: literals.CaseReason | str | None
    """Of the last transition."""
    assignee: str | None
    """The `user_id` of a member, or the label that an API key gave."""
    assignee_label: str | None
    """The e-mail address of the member, or the label."""
    priority: literals.CasePriority | str
    due_at: str | None
    """Of the review while the case is open, then of the decision; null once it is closed."""
    overdue: bool
    sla: CaseSla
    fraud_suspected_by: Actor | None
    """The first who named suspected_fraud. With four eyes another person must deny the case for it."""
    allowed: list[CaseOption]
    """What the case can become now, for its claim and for who asks."""
    version: int
    """One more with each entry of the history."""
    created_at: str
    updated_at: str
    closed_at: str | None
    claim_changed_at: str | None
    """Of a closed case: when its claim came to stand otherwise than when it was closed. null once it is reopened."""


class CaseChange(AnswerModel):
    field: str
    from_: str | None = Field(alias="from")
    to: str | None


class CaseCounts(AnswerModel):
    object: Literal["case_counts"] | str
    by_status: CaseStatusCounts


class CaseEntry(AnswerModel):
    version: int
    """Of the case, which this entry made."""
    kind: literals.CaseEntryKind | str
    at: str
    by: Actor
    from_: literals.CaseStatus | str | None = Field(alias="from")
    to: literals.CaseStatus | str | None
    reason_code: literals.CaseReason | str | None
    note: str | None
    note_erased_at: str | None
    """When the note was erased with its claim."""
    changes: list[CaseChange]


class CaseEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[CaseEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class CaseList(AnswerModel):
    object: Literal["list"] | str
    data: list[Case]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class CaseOption(AnswerModel):
    to: literals.CaseStatus | str
    reason_codes: list[literals.CaseReason | str]
    """One of them is given; empty: none is."""
    needs_note: bool
    """Whatever the reason. `other` always needs one."""
    needs_assignee: bool
    """The case has no assignee: an API key names one, a session without one assigns its own user."""
    needs_second_person: bool
    """`suspected_fraud` takes two persons: the first proposes it."""


class CaseOutcomeCounts(AnswerModel):
    fraud: int
    """Denied with the reason `suspected_fraud` or `signature_invalid`."""
    legitimate: int
    """Approved."""
    other: int
    """Denied for another reason, withdrawn or closed undecided."""


class CaseSla(AnswerModel):
    review_due_at: str
    decision_due_at: str
    """While paused: when it would be due if the pause ended now."""
    paused_at: str | None


class CaseStatusChangedData(AnswerModel):
    case_id: str
    claim_id: str
    from_: literals.CaseStatus | str = Field(alias="from")
    to: literals.CaseStatus | str
    reason_code: literals.CaseReason | str | None
    note_present: bool
    actor: Actor


class CaseStatusChangedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["case.status_changed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: CaseStatusChangedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class CaseStatusCounts(AnswerModel):
    open: int
    in_review: int
    info_requested: int
    escalated: int
    approved: int
    denied: int
    withdrawn: int
    closed_undecided: int


class Certificate(AnswerModel):
    subject: str
    serial: str
    not_before: str
    not_after: str
    fingerprint: str


class Challenge(AnswerModel):
    challenge_id: str
    challenge: str
    expires_at: str


class Change(AnswerModel):
    section: str
    """The product or area, such as Attest or Operate."""
    text: str
    """Markdown."""


class ChangedToken(AnswerModel):
    token: int
    text: str
    before: TokenLogit
    after: TokenLogit
    predicted_change: int | float
    """Change of the logit in the frozen model, less the mean of these tokens: what all gain changes nothing."""
    measured_change: int | float


class ChangelogVersion(AnswerModel):
    version: str
    """Such as 1.2.0; `unreleased` for what no version has yet."""
    date: str | None
    """null: not released."""
    changes: list[Change]


class ChangelogVersionList(AnswerModel):
    object: Literal["list"] | str
    data: list[ChangelogVersion]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class Chunk(AnswerModel):
    capture_session_id: str
    index: int
    sha256: str
    bytes: int
    arrived_at: str
    """By the server’s clock. A chunk that is sent again keeps the time of its first arrival."""


class ChunkRun(AnswerModel):
    first: int
    last: int


class Claim(AnswerModel):
    claim_id: str
    reference: str | None
    line: str | None
    loss_location: Position | None
    loss_at: str | None
    risk_status: literals.ClaimRiskStatus | str
    risk_score: int | None
    provenance_status: literals.ProvenanceStatus | str | None
    factor_codes: list[literals.FactorCode | str]
    advisory_codes: list[literals.AdvisoryCode | str]
    case_id: str | None
    """Its open case."""
    created_at: str
    updated_at: str
    erased_at: str | None


class ClaimAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """The beginning of the period that was read."""
    to: str
    """The end of the period that was read, exclusive."""
    days: list[ClaimDay]
    """Every day of the period, oldest first."""


class ClaimDay(AnswerModel):
    day: str
    """In UTC."""
    total: int
    pending: int
    passed: int
    review: int
    failed: int


class ClaimEscalatedData(AnswerModel):
    claim_id: str
    risk_score: int
    factor_codes: list[literals.FactorCode | str]
    case_id: str | None = None


class ClaimEscalatedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["claim.escalated"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ClaimEscalatedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class ClaimList(AnswerModel):
    object: Literal["list"] | str
    data: list[Claim]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ClaimMoment(AnswerModel):
    at: str
    kind: literals.ClaimMomentKind | str
    subject_id: str
    """The claim, attestation, case or screening that it is about."""
    by: Actor | None
    """Who did it, of entries of cases; null for the others."""
    details: dict[str, Any]
    """By kind: the data of the event, the result, or the change of the case. Notes are at the case."""


class ClaimMomentList(AnswerModel):
    object: Literal["list"] | str
    data: list[ClaimMoment]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ClaimProvenanceUpdatedData(AnswerModel):
    claim_id: str
    previous: ClaimStanding
    current: ClaimStanding
    added_factors: list[literals.FactorCode | str]
    removed_factors: list[literals.FactorCode | str]


class ClaimProvenanceUpdatedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["claim.provenance_updated"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ClaimProvenanceUpdatedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class ClaimStanding(AnswerModel):
    provenance_status: literals.ProvenanceStatus | str | None
    risk_status: literals.ClaimRiskStatus | str
    risk_score: int | None


class ClearedLock(AnswerModel):
    lock_id: str
    status: Literal["cleared"] | str
    agent_unsuspended: bool


class CreatedApiKey(ApiKey):
    key: str | None = None
    """The raw key: shown now and never again."""
    secret_shown: Literal[False] | int | None = None
    """A replay of the request, without the raw key."""


class TraceShare(AnswerModel):
    share_id: str
    name: str | None
    """What people of the account call it. The holder of its token does not see it."""
    status: literals.ShareStatus | str
    trace_id: str
    job_id: str | None
    """null: the readings are shared, and no graph."""
    model_version_id: str | None
    scope_kind: literals.ShareScope | str
    masked_node_ids: list[str]
    """What a grant unmasks: masked by this share, and by those of the trace before it. Without `reveals_prompt` a
    graph shows neurons of the last position alone.
    """
    mask_rule: MaskRule | None
    reveal: list[literals.RevealedPlace | str]
    reveals_prompt: bool
    """Whether single positions of the text are shown, and with them its words."""
    disclosure_mode: literals.DisclosureMode | str
    shown_before: int
    """How many of the masked neurons a viewed share of this trace may have shown."""
    created_by: Actor
    created_at: str
    expires_at: str
    revoked_at: str | None
    revoked_by: Actor | None


class CreatedTraceShare(TraceShare):
    token: str | None = None
    """Of the share. In this answer only."""
    url: str | None = None
    """A page that shows it. The token is in the fragment."""
    secret_shown: Literal[False] | int | None = None
    """A replay of the creation, without the token."""


class WebhookEndpoint(AnswerModel):
    webhook_endpoint_id: str
    url: str
    event_types: list[literals.EventSubscription | str]
    description: str
    metadata: dict[str, str]
    max_per_second: int | None
    max_concurrency: int
    status: literals.WebhookEndpointStatus | str
    disabled_reason: literals.WebhookDisabledReason | str | None
    """gone: it answered 410. failing: for five days. manual: a person or a key did it."""
    disabled_at: str | None
    circuit: WebhookCircuit
    last_success_at: str | None
    """Exact to a minute."""
    created_at: str
    secret_rotated_at: str | None
    previous_secret_expires_at: str | None
    """Until when the secret before this one signs as well; null when there is none."""
    version: int
    """Counts the changes of what can be changed by `PATCH`. It is in the `ETag`."""
    statistics: WebhookEndpointStatistics | None = None
    """In the list with `window`."""


class CreatedWebhookEndpoint(WebhookEndpoint):
    signing_secret: str | None = None
    """Shown now and never again."""
    secret_shown: Literal[False] | int | None = None
    """A replay, without the secret."""


class ScheduleCycle(AnswerModel):
    cycle: int
    """1 is the first."""
    opens_at: str
    closes_at: str
    """It can be executed before this time."""


class CurrentScheduleCycle(ScheduleCycle):
    jti: str | None
    """The token that executed it; null: none has."""


class Decision(AnswerModel):
    decision_id: str
    kind: literals.DecisionKind | str
    environment: literals.Environment | str
    at: str
    actor: Actor
    subject_id: str | None
    """What was decided about."""
    reason: str | None
    valid: bool | None
    """null: neither a permission nor a refusal."""
    jti: str | None
    agent_id: str | None
    agent_session_id: str | None
    device_id: str | None
    mandate_id: str | None
    schedule_id: str | None
    trace_id: str | None
    matched_rule_id: str | None
    """The rule of the policy that gave the answer."""
    policy_version: int | None
    entry: DecisionEntry
    """What the ledger has of it."""
    entry_hash: str
    """SHA-256 of the canonical JSON (RFC 8785) of `entry`."""
    position: int | None
    """Of its leaf in the log; null for about a second."""


class DecisionAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """The beginning of the period that was read."""
    to: str
    """The end of the period that was read, exclusive."""
    total: int
    counts: list[DecisionCount]
    """By day, oldest first, then by kind and number. Without those of 0."""


class DecisionCount(AnswerModel):
    day: str
    """In UTC."""
    kind: literals.CountedDecisionKind | str
    reason: str | None
    """null: the action may run. Otherwise a reason of verify, or the own reason of a policy rule."""
    decisions: int


class DecisionEntry(AnswerModel):
    decision_id: str
    kind: literals.DecisionKind | str
    environment: literals.Environment | str
    at: str
    actor: Literal["service"] | str | DecisionEntryActor
    subject_id: str | None
    """What was decided about."""
    reason: str | None
    valid: bool | None
    """null: neither a permission nor a refusal."""
    inputs: dict[str, str | None]
    """Hashes and ids of what was given."""
    matched_rule_id: str | None
    """The rule of the policy that gave the answer."""
    policy_version: int | None
    rule_results: list[PolicyRuleResult]
    """At most 100 of rules that decide, and of shadow rules: of the rule that gave the answer, then of those that
    refused, then of others.
    """
    rule_results_omitted: int | None = None
    """How many more there were; absent where none. `replay.rules` of the explanation has the first 1,000."""
    facts_hash: str | None


class DecisionEntryActor(AnswerModel):
    actor_id: str
    """The API key or user."""
    person: str | None
    """The user of a session; with a key, the person whom its caller named."""
    api_key_id: str | None


class DecisionExplanation(AnswerModel):
    decision: Decision
    meaning: str
    """What decisions of this kind record."""
    entry_intact: bool
    """Whether the entry has its hash."""
    facts_status: literals.DecisionFactsStatus | str
    facts: Any | None
    replay: Any | None
    """null: decisions of this kind are not repeated, or the facts are not intact."""
    same_answer: bool | None
    """Whether the facts lead to the recorded answer again."""
    differences: list[str]
    """Members for which they do not."""


class DecisionList(AnswerModel):
    object: Literal["list"] | str
    data: list[Decision]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DeletedC2paAnchor(AnswerModel):
    c2pa_anchor_id: str
    deleted: Literal[True] | int


class DeletedEvalSet(AnswerModel):
    eval_set_id: str
    deleted: Literal[True] | int


class DeletedEventConsumer(AnswerModel):
    event_consumer_id: str
    """Its name."""
    deleted: Literal[True] | int


class DeletedRootCa(AnswerModel):
    root_ca_id: str
    deleted: Literal[True] | int


class DeletedWebhookEndpoint(AnswerModel):
    webhook_endpoint_id: str
    deleted: Literal[True] | int


class Delivery(AnswerModel):
    delivery_id: str
    webhook_endpoint_id: str
    event_id: str
    event_type: literals.EventType | str
    status: literals.DeliveryStatus | str
    created_at: str
    next_attempt_at: str | None
    """Later while the circuit of its endpoint is open."""
    delivered_at: str | None
    failed_at: str | None
    attempts: list[DeliveryAttempt]


class DeliveryAnswer(AnswerModel):
    headers: dict[str, str]
    body: str
    """Its first 16 KiB: text, or base64 where it is no UTF-8."""
    body_encoding: literals.DeliveryBodyEncoding | str
    is_truncated: bool
    """Headers, or the rest of the body, were left out."""


class DeliveryAttempt(AnswerModel):
    attempt: int
    started_at: str
    finished_at: str | None
    """null: running, or its process ended before the answer."""
    response_status: int | None
    error: str | None
    error_detail: str | None
    """For people: the address that was refused, the problem of the certificate."""
    duration_ms: int | None
    timing: DeliveryTiming | None


class DeliveryCall(AnswerModel):
    """As it was sent, with its signatures. The body is that of the delivery."""

    url: str
    headers: dict[str, str]


class DeliveryLine(AnswerModel):
    delivery_id: str
    webhook_endpoint_id: str
    event_id: str
    event_type: literals.EventType | str
    status: literals.DeliveryStatus | str
    created_at: str
    next_attempt_at: str | None
    """Later while the circuit of its endpoint is open."""
    delivered_at: str | None
    failed_at: str | None
    attempts: list[FullDeliveryAttempt]


class DeliveryList(AnswerModel):
    object: Literal["list"] | str
    data: list[Delivery]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DeliveryTiming(AnswerModel):
    dns_ms: int | None
    """null: the URL names an address."""
    connect_ms: int | None
    """null, like `tls_ms`: an open connection was used again."""
    tls_ms: int | None
    """The TLS handshake."""
    first_byte_ms: int | None
    """From the request to the head of the answer."""


class Device(AnswerModel):
    device_id: str
    name: str | None
    status: literals.DeviceStatus | str
    hardware_tier: literals.HardwareTier | str
    hardware: Hardware | None
    certificate: Certificate
    spki_sha256: str
    enrolled_at: str
    expires_at: str
    """When its certificate expires: from then on it counts as not enrolled."""
    revoked_at: str | None
    revoke_effective_at: str | None
    revoke_reason: str | None


class DeviceBatch(AnswerModel):
    object: Literal["device_batch"] | str
    accepted: int
    rejected: list[RejectedLine]
    devices: list[EnrolledLine]


class DeviceCounts(AnswerModel):
    object: Literal["device_counts"] | str
    total: int
    by_status: DeviceStatusCounts
    expiring_soon: int
    """Enrolled devices whose certificate expires within 30 days."""
    by_hardware_tier: dict[str, int]
    """All devices by the tier that counts, the list of revoked keys included."""


class DeviceEntry(AnswerModel):
    kind: literals.DeviceEntryKind | str
    at: str
    by: Actor
    reason: str | None
    detail: dict[str, Any]


class DeviceEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[DeviceEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DeviceList(AnswerModel):
    object: Literal["list"] | str
    data: list[Device]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DeviceRefresh(AnswerModel):
    object: Literal["device_refresh"] | str
    accepted: int
    rejected: list[RejectedLine]
    devices: list[RefreshedLine]


class DeviceStatusCounts(AnswerModel):
    enrolled: int
    expired: int
    revoked: int


class DiffEvalSet(AnswerModel):
    name: str
    sha256: str
    prompts: int
    used: int
    skipped: int


class DiffFamily(AnswerModel):
    family: str
    prompts: int
    base_mean: int | float
    target_mean: int | float
    psi: int | float
    """The population stability index over ten bins of equal width."""
    bins: ScoreBins | None = None
    """How many scores of each version lie in the bins that `psi` is of: the first from `edges[0]` up to `edges[1]`.
    The last has its upper edge too. Absent in reports of version 1.
    """
    ks: KolmogorovSmirnov
    shift: MeanShift
    """Of the score, target minus base, with the 95 % interval of a bootstrap over prompts."""
    status: DiffProbeStatuses
    """What the cards of the probes say."""
    verdict: literals.DiffVerdict | str


class DiffModel(AnswerModel):
    model: str
    model_version_id: str
    sha256: str
    architecture: str
    probe_set: str
    probe_version: str
    vocabulary_sha256: str


class DiffProbeStatuses(AnswerModel):
    base: str
    target: str


class DiffProgress(AnswerModel):
    done: int
    total: int


class DiffSettings(AnswerModel):
    seed: int | float
    max_tokens: int
    min_prompts: int
    psi_bins: int
    resamples: int
    confidence: int | float
    thresholds: DiffThresholds


class DiffThresholds(AnswerModel):
    psi_drift: int | float
    """Drift from this index on, if the test is significant too."""
    ks_alpha: int | float
    """The level of the test, for all families together (Holm)."""
    psi_warn: int | float
    """A warning from this index on."""
    mean_shift: int | float
    """Drift where the whole interval of the shift is further from 0."""


class DisclosureRequest(AnswerModel):
    request_id: str
    status: literals.DisclosureStatus | str
    share_id: str
    trace_id: str
    model_version_id: str | None
    scope_kind: literals.ShareScope | str
    masked_node_ids: list[str]
    """What a grant shows."""
    email: str | None
    """Verified. null once it was erased, 30 days after the end."""
    purpose: str | None
    created_at: str
    verified_at: str | None
    decided_at: str | None
    decided_by: Actor | None
    """The service where the share discloses by itself. Revoking the share does not change it: no request was decided."""
    expires_at: str


class DisclosureRequestList(AnswerModel):
    object: Literal["list"] | str
    data: list[DisclosureRequest]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DueScheduleCycle(ScheduleCycle):
    schedule_id: str
    counterparty: str
    status: literals.ScheduleCycleStatus | str
    """missed: its window has closed. open: it can be executed now, unless the schedule is paused. cancelled: its
    schedule was, before its window closed.
    """
    jti: str | None
    """The token that executed it."""
    amount: str | None
    """Decimal: of its execution."""
    currency: str
    executed_at: str | None


class DueScheduleCycleList(AnswerModel):
    object: Literal["list"] | str
    data: list[DueScheduleCycle]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DuplicateFindings(AnswerModel):
    attestation_id: str
    media_id: str
    status: literals.DuplicateStatus | str
    """pending: not compared yet, or compared anew because an earlier result came late."""
    not_comparable: str | None
    """Why there is no perceptual hash; the same bytes are found without one."""
    earlier: list[DuplicateMatch]
    """Earlier claims with the same or a similar picture, nearest first: ten of each kind."""
    earlier_more: int
    """Earlier claims that are not among them."""
    later: list[DuplicateMatch]
    """Claims that showed it later and name this attestation, oldest first, ten at most."""


class DuplicateFindingsList(AnswerModel):
    object: Literal["list"] | str
    data: list[DuplicateFindings]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class DuplicateMatch(AnswerModel):
    claim_id: str
    attestation_id: str
    kind: literals.DuplicateKind | str
    distance_bits: int
    """Of 64; 0 for the same bytes too."""


class DurationQuantiles(AnswerModel):
    p50: int | None
    p99: int | None


class Ed25519PublicKey(AnswerModel):
    kty: Literal["OKP"]
    crv: Literal["Ed25519"] | str
    x: str


class EditedNeuron(AnswerModel):
    node_id: str
    factor: int | float
    activation_before: int | float
    activation_after: int | float


class EnrolledLine(AnswerModel):
    line: int
    device_id: str


class EvalSet(AnswerModel):
    eval_set_id: str
    name: str
    prompts: int
    sha256: str
    """Of the prompts’ canonical JSON (RFC 8785), in hexadecimal."""
    created_by: Actor
    created_at: str


class EvalSetList(AnswerModel):
    object: Literal["list"] | str
    data: list[EvalSet]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class EventConsumer(AnswerModel):
    name: str
    position: int
    latest: int
    """The position of the newest event."""
    lag: int
    """Events that are there and after its position."""
    missed: int
    """Events after its position that were deleted after 30 days."""
    oldest_unread_created_at: str | None
    created_at: str
    acknowledged_at: str | None
    """When its position was last reported."""
    version: int
    """Counts the reports of its position. It is in the `ETag`."""


class EventConsumerList(AnswerModel):
    object: Literal["list"] | str
    data: list[EventConsumer]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class EventDetector(AnswerModel):
    name: str
    version: str


class EventList(AnswerModel):
    object: Literal["list"] | str
    data: list[Event]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class EventPull(AnswerModel):
    object: Literal["event_pull"] | str
    data: list[Event]
    has_more: bool
    """Whether there are further events after these."""
    after: int
    """The position after which it read: `expected_position` of its report."""
    next_after: int
    """`after` of the next request."""
    latest: int
    """The position of the newest event, of any type."""


class EventTypeEntry(AnswerModel):
    type: literals.EventType | str
    summary: str
    products: list[literals.Product | str]
    """Accounts that use any of these get the event. Empty: every account."""
    is_sent: bool
    """false: this version of the service sends none, and you may subscribe to it already."""
    data_schema: dict[str, Any] | None
    """JSON Schema (2020-12) of `data`. Members may be added to it."""
    envelope_schema: dict[str, Any] | None
    """JSON Schema (2020-12) of the whole body."""
    example: Event | None
    """A whole body."""


class EventTypeEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[EventTypeEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class EvidencePacketAboutAttestations(AnswerModel):
    total: int
    included: int
    is_complete: bool
    next_cursor: str | None


class EvidencePacketAbout(AnswerModel):
    version: Literal["evidence-packet/1"] | str
    packet_id: str
    """Derived from the content: two packets with one id have the same content."""
    issued_at: str
    account_id: str
    environment: literals.Environment | str
    claim_id: str
    keys_at: str
    """Address of the published keys."""
    attestations: EvidencePacketAboutAttestations
    statement: str
    """What the packet contains and what it does not, as text."""


class EvidencePacketTimelineMoments(AnswerModel):
    at: str
    kind: str
    subject: str
    """The id that it is about."""
    detail: dict[str, Any]


class EvidencePacketTimeline(AnswerModel):
    moments: list[EvidencePacketTimelineMoments]
    """Oldest first."""
    omitted: int
    """Earlier events that did not fit."""


class EvidencePacketKeys(AnswerModel):
    kty: Literal["EC"] | str
    crv: Literal["P-256"] | str
    x: str
    y: str
    kid: str
    alg: Literal["ES256"] | str
    use: Literal["sig"] | str
    env: literals.Environment | str
    family: Literal["token", "record"] | str
    revoked: KeyRevocation | None = None


class EvidencePacket(AnswerModel):
    about: EvidencePacketAbout
    claim: PacketClaim
    attestations: list[PacketAttestation]
    """Newest first."""
    devices: list[PacketDevice]
    cases: list[PacketCase]
    timeline: EvidencePacketTimeline
    keys: list[EvidencePacketKeys]
    """The record keys of the environment, to verify offline what is signed here."""


class Execution(AnswerModel):
    jti: str
    status: literals.ExecutionStatus | str
    executed_at: str
    outcome_at: str | None
    action_hash: str
    """SHA-256, base64url without padding."""
    payload_hash: str
    """SHA-256, base64url without padding."""


class ExportFailure(AnswerModel):
    code: Literal["export_failed"] | str
    detail: str


class ExportProgress(AnswerModel):
    files: int
    rows: int


class ExternalGraph(AnswerModel):
    source: Literal["neuronpedia"] | str
    model: str
    """As that service calls it."""
    exact: Literal[False] | int
    """It is of a replacement model, and no attribution of this service."""
    graph: dict[str, Any]
    """As it came, in the schema of Neuronpedia’s graphs."""


class Factor(AnswerModel):
    """A finding that counts toward the risk score."""

    code: literals.FactorCode | str
    points: int
    evidence: FactorEvidence


class FactorAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """The beginning of the period that was read."""
    to: str
    """The end of the period that was read, exclusive."""
    cases: CaseOutcomeCounts
    """All cases that ended in the period."""
    factors: list[FactorOutcomes]
    """Every code, in the order of results."""


class FactorEvidence(AnswerModel):
    """Further members depend on the code. Their names have units, and times are ISO 8601."""

    compared: str
    """What was compared."""
    expected: Any
    """What an honest capture would show: any JSON value."""
    found: Any
    """What was found: any JSON value."""


class FactorOutcomes(AnswerModel):
    code: literals.FactorCode | str | literals.AdvisoryCode | str
    points: int | None
    """null: an advisory code, which never counts."""
    cases: CaseOutcomeCounts
    """The ended cases whose claim has the code."""


class FieldError(AnswerModel):
    pointer: str
    """RFC 6901 into the body, `?name` of the query, or the name of a header."""
    code: literals.FieldErrorCode | str
    detail: str
    """For people: it may change."""


class FullDelivery(DeliveryLine):
    body: str | None
    """The exact text that is signed and sent; null when the event has gone."""


class FullDeliveryAttempt(DeliveryAttempt):
    address: str | None
    """The address that was connected to."""
    request: DeliveryCall | None
    response: DeliveryAnswer | None


class GeneratedRuns(AnswerModel):
    runs: int
    trips: int
    false_positive_rate: int | float


class GeneratorScore(AnswerModel):
    model: str
    score: int | float


class Hardware(AnswerModel):
    format: literals.EvidenceFormat | str
    proven_tier: literals.HardwareTier | str
    """What the evidence proves; hardware_tier takes the list of revoked keys into account too."""
    reasons: list[HardwareReason]
    """Empty when the evidence proved the tier."""
    android: AndroidHardware | None
    apple: AppleHardware | None
    verified_at: str
    revocation: HardwareRevocation


class HardwareReason(AnswerModel):
    code: literals.HardwareReasonCode | str
    detail: str


class HardwareRevocation(AnswerModel):
    """By the vendor’s list as last fetched."""

    status: literals.HardwareRevocationStatus | str
    list_fetched_at: str | None
    serial: str | None
    listed_as: str | None
    """The word of the vendor’s list."""


class HeldOutFigures(AnswerModel):
    auc: int | float
    trip_rate: int | float
    false_positive_rate: int | float


class Inference(AnswerModel):
    trace_id: str
    model: str
    model_version_id: str
    completion: str | None
    """null: withheld, by `finish_reason`."""
    tool_calls: list[ModelToolCall] | None = None
    """Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none."""
    finish_reason: literals.FinishReason | str
    """canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended."""
    usage: TokenUsage
    canary: Canary | None
    """null: the model has no probes. `tripped_families` by the thresholds that count."""
    uncounted_families: list[str]
    """Tripped too, and not counted: their probes are experimental. `allow_experimental` counts them."""
    mode: literals.KillSwitchMode | str
    """Of the kill switch for this agent."""
    lock_id: str | None
    """The lock in force."""
    decision_id: str
    """The entry of the decision ledger."""


class Intent(AnswerModel):
    jti: str
    status: literals.IntentTokenStatus | str
    authorized_by: Actor
    action_hash: str
    payload_hash: str
    agent_id: str | None
    agent_session_id: str
    device_id: str
    mandate_id: str | None
    schedule_id: str | None
    trace_id: str | None
    audience: str | None
    biometric: bool
    """A person confirmed exactly this action with a passkey."""
    policy_version: int
    created_at: str
    expires_at: str
    executed_at: str | None
    outcome: literals.IntentOutcome | str | None
    """As the executing caller reported it."""
    outcome_at: str | None
    revocation_id: str | None
    revoked_scope: literals.RevokedScope | str | None
    revoked_at: str | None


class IntentBindings(AnswerModel):
    action_hash: str
    """SHA-256, base64url without padding."""
    payload_hash: str
    """SHA-256, base64url without padding."""
    context_hash: str | None
    trace_id: str | None
    reading_hash: str | None
    agent_id: str | None
    agent_session_id: str
    device_id: str
    mandate_id: str | None
    schedule_id: str | None
    biometric: bool
    """A person confirmed exactly this action with a passkey."""
    single_use: bool
    """As the request asked for."""
    audience: str | None
    policy_version: int


class IntentList(AnswerModel):
    object: Literal["list"] | str
    data: list[Intent]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class IntentPreflight(AnswerModel):
    would_be_valid: bool
    reason: str | None


class IntentRevokedData(AnswerModel):
    revocation_id: str
    scope: literals.RevokedScope | str
    jti: str | None = None
    agent_session_id: str | None = None
    device_id: str | None = None
    reason: str
    actor: Actor


class IntentRevokedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["intent.revoked"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: IntentRevokedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class IntentStatus(AnswerModel):
    jti: str
    status: literals.IntentTokenStatus | str
    revoked: bool
    revoked_scope: literals.RevokedScope | str | None
    revoked_at: str | None
    expires_at: str


class IntentStop(AnswerModel):
    stopped: bool
    stop_id: str | None
    """The last stop, in force or lifted; null if there was none."""
    reason: str | None
    stopped_by: Actor | None
    stopped_at: str | None
    resumed_by: Actor | None
    resumed_at: str | None


class Intervention(AnswerModel):
    trace_id: str
    tokens: list[ChangedToken]
    edits: list[EditedNeuron]
    runtime: str | None = None
    """Whose arithmetic it is, where an accelerator computed it."""


class Invite(AnswerModel):
    invite_id: str
    email: str
    role: literals.Role | str
    status: literals.InviteStatus | str
    invited_by: Actor
    """Sent its newest mail."""
    created_at: str
    sent_at: str
    """When its newest mail was requested."""
    expires_at: str
    accepted_at: str | None
    user_id: str | None
    """Whom accepting made a member."""
    revoked_at: str | None


class InviteList(AnswerModel):
    object: Literal["list"] | str
    data: list[Invite]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class IssuedChallenges(AnswerModel):
    challenges: list[Challenge]


class IssuedSession(AnswerModel):
    capture_session_id: str
    session_nonce: str
    issued_at: str
    expires_at: str


class IssuedSessions(AnswerModel):
    sessions: list[IssuedSession]


class JudgedStanding(AnswerModel):
    risk_status: literals.RiskStatus | str
    risk_score: int
    provenance_status: literals.ProvenanceStatus | str


class KeyRevocation(AnswerModel):
    """The key was revoked, because others may have had it."""

    revoked_at: str
    doubted_since: str
    """Signatures from this time on may be those of another holder of the key."""


class KillSwitch(AnswerModel):
    version: int
    """0: the defaults, before anything was set."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    document: KillSwitchDocument


class KillSwitchAgents(AnswerModel):
    agents: list[str] | None = None


class KillSwitchDocument(AnswerModel):
    mode: literals.KillSwitchMode | str
    """off: readings are not judged. monitor: they are judged, and nothing is refused. block: a trip, an old reading
    and a missing one are refused. block_and_lock: a trip also locks the session.
    """
    max_age_s: int | None = None
    """An older reading does not count. Default: `300`."""
    families: list[KillSwitchFamily] | None = None
    """Thresholds in place of those of the readings. A family that is not enabled does not count. Default: `[]`."""
    apply_to: KillSwitchAgents | None = None
    """Without `agents`: all agents. Requests that name no agent are always included. Default: `{}`."""
    allow_experimental: bool | None = None
    """Under `block` and `block_and_lock`, count probes too whose card has the status `experimental`. Default: `false`."""
    reading: KillSwitchReading | None = None
    """What a reading has to be before it may allow. Default: `{"models":[],"max_tokens":64}`."""


class KillSwitchFamily(AnswerModel):
    family: str
    threshold: int | float
    enabled: bool | None = None
    """Default: `true`."""


class KillSwitchPreview(AnswerModel):
    from_: str = Field(alias="from")
    to: str
    complete: bool
    """false: there were more than 5,000 checks or inferences. Those before `from` are left out."""
    looked: PreviewedRequests
    """What was re-evaluated by this document."""
    refused: PreviewedRequests
    """Of them, checks that would have been refused and inferences that would have been withheld."""
    reasons: list[PreviewedReason]
    tripped_traces: int
    """Traces with a family that trips and counts."""
    locks: int
    """Sessions and agents that would have been locked."""
    held_by_locks: int
    """Requests of those sessions and agents after the lock: refused as well until a person had cleared it."""
    families: list[PreviewedFamily]
    agents: list[PreviewedAgent]
    """With a refusal; at most 100, those with most refusals first."""


class KillSwitchReading(AnswerModel):
    models: list[str] | None = None
    """Only readings of these may allow; the first reads inputs. None: the first of GET /v1/trace/models. Default:
    `[]`.
    """
    max_tokens: int | None = None
    """The length of an input’s completion. One that was cut off below it allows nothing. Default: `64`."""


class KolmogorovSmirnov(AnswerModel):
    statistic: int | float
    p: int | float
    p_holm: int | float
    """Adjusted for the number of families."""
    method: literals.KolmogorovSmirnovMethod | str


class LastVerification(AnswerModel):
    decision_id: str
    at: str
    valid: bool
    """true: it only checked."""
    reason: str | None


class LedgerCheck(AnswerModel):
    valid: bool
    """Nothing was found in this part."""
    size: int
    """Leaves of the log."""
    from_: int = Field(alias="from")
    to: int
    next: int | None
    """`from` of the next part; null after the last."""
    leaves: int
    """Checked leaves."""
    entries_gone: int
    """Leaves whose entries went when their retention ended."""
    checkpoints: int
    """Checked checkpoints."""
    problems: list[LedgerProblem]
    has_more_problems: bool


class LedgerCheckpoint(AnswerModel):
    size: int
    """Leaves that it covers."""
    root: str
    """SHA-256, base64url without padding."""
    at: str
    jws: str
    """Signed by a record key; `typ` is `ledger-checkpoint+jwt`."""


class LedgerCheckpointLine(LedgerCheckpoint):
    type: Literal["checkpoint"]


class LedgerCheckpointList(AnswerModel):
    object: Literal["list"] | str
    data: list[LedgerCheckpoint]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class LedgerConsistencyProof(AnswerModel):
    from_: LedgerTree = Field(alias="from")
    to: LedgerTree
    proof: list[str]
    """RFC 6962 2.1.2."""


class LedgerEndLine(AnswerModel):
    type: Literal["end"]
    size: int


class LedgerEntryLine(AnswerModel):
    type: Literal["entry"]
    position: int
    leaf_hash: str
    """SHA-256, base64url without padding."""
    entry_hash: str
    """SHA-256, base64url without padding."""
    entry: DecisionEntry


class LedgerHeadLine(AnswerModel):
    type: Literal["head"]
    version: Literal[1] | int
    account_id: str
    environment: literals.Environment | str
    from_: int = Field(alias="from")
    """The position of the first leaf."""
    size: int
    """Leaves at the last checkpoint of the export."""
    frontier: list[str]
    """Roots of the complete subtrees of the leaves before `from`, the largest first."""


class LedgerInclusionProof(AnswerModel):
    decision_id: str
    entry_hash: str
    """SHA-256, base64url without padding."""
    leaf_hash: str
    """SHA-256 of 0x00 and the entry_hash."""
    position: int
    size: int
    root: str
    """SHA-256, base64url without padding."""
    proof: list[str]
    """RFC 6962 2.1.1, from the neighbour of the leaf to the top."""
    checkpoint: LedgerCheckpoint | None
    """null: none has exactly this size."""


class LedgerLeafLine(AnswerModel):
    type: Literal["leaf"]
    position: int
    leaf_hash: str
    """SHA-256, base64url without padding."""
    decision_id: str


class LedgerProblem(AnswerModel):
    code: literals.LedgerProblemCode | str
    position: int | None
    decision_id: str | None
    detail: str


class LedgerTree(AnswerModel):
    size: int
    root: str
    """SHA-256, base64url without padding."""


class LensToken(AnswerModel):
    token: int
    text: str
    probability: int | float


class Mandate(AnswerModel):
    mandate_id: str
    parent_id: str | None
    ancestors: list[str]
    """Root first."""
    status: literals.MandateStatus | str
    """With its ancestors: the worst of them counts for all of their children."""
    status_of: str
    """The mandate or the ancestor that has this status."""
    principal: str
    agent_id: str | None
    description: str
    timezone: str
    constraints: MandateConstraints
    payload_pointers: MandatePayloadPointers
    budget: MandateBudget | None
    remaining: str | None
    """What the budgets of the mandate and of all ancestors leave; null without any."""
    not_before: str | None
    instruments: list[str] | None
    """null: any."""
    expires_at: str
    heartbeat: MandateHeartbeat | None
    revoked_at: str | None
    revoked_by: Actor | None
    revoked_reason: str | None
    version: int
    """Counts the changes of what can be changed by `PATCH`. It is in the `ETag`."""
    created_by: Actor
    created_at: str
    updated_at: str


class MandateBudget(AnswerModel):
    limit: str
    """A decimal number."""
    currency: str
    period: literals.BudgetPeriod | str
    period_start: str
    """The calendar date, in the mandate's time zone, on which the current period began."""
    period_end: str | None
    """On which the next one begins; null of a total."""
    spent: str
    """A decimal number."""
    remaining: str
    """A decimal number."""
    max_count: int | None
    """Executions in one period; null: any number."""
    count: int
    """Executions in the current period, without those that were given back."""


class MandateConstraints(AnswerModel):
    min_amount: str | None = None
    """A decimal number."""
    max_amount: str | None = None
    """A decimal number."""
    currency: str | None = None
    action_types: list[str] | None = None
    counterparties: list[str] | None = None
    window: MandateWindow | None = None


class MandateDailySpend(AnswerModel):
    mandate_id: str
    from_: str = Field(alias="from")
    to: str
    days: list[MandateSpendDay]
    """The oldest first, without those on which nothing was charged."""


class MandateDetail(AnswerModel):
    """With a reason of the mandate: which of its limits refuses."""

    constraint: literals.MandateConstraintName | str
    expected: Any
    """What the mandate says."""
    actual: Any
    """What the action has; null: nothing, or nothing readable."""
    remaining: str | None = None
    """With `budget`: what is left of it."""
    mandate_id: str
    """The level that refuses: the mandate or one of its ancestors."""


class MandateHeartbeat(AnswerModel):
    interval_seconds: int
    reactivation_window_seconds: int
    last_check_in_at: str
    next_check_in_by: str
    """After it the mandate is suspended."""
    lapses_at: str
    """After it no check-in makes it active again."""


class MandateList(AnswerModel):
    object: Literal["list"] | str
    data: list[Mandate]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class MandatePayloadPointers(AnswerModel):
    amount: str | None = None
    currency: str | None = None
    counterparty: str | None = None
    action_type: str | None = None
    instrument: str | None = None


class MandateSpend(AnswerModel):
    mandate_id: str
    period_start: str | None
    """Of the budget; null where the mandate has none."""
    currency: str | None
    executions: int
    charged: str
    """A decimal, exact."""
    released: str
    """Given back, as the action failed or did not run."""
    spent: str
    """`charged` less `released`."""


class MandateSpendDay(AnswerModel):
    date: str
    """In UTC."""
    currency: str
    executions: int
    """Without those that were given back."""
    committed: str
    """Charged for actions that succeeded, or whose outcome can not be reported any more."""
    reserved: str
    """Charged for actions whose outcome was not reported yet."""
    released: str
    """Given back, as the action failed or did not run."""


class MandateSpendList(AnswerModel):
    object: Literal["list"] | str
    data: list[MandateSpend]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class MandateWindow(AnswerModel):
    weekdays: list[int] | None = None
    """ISO 8601: 1 is Monday. Every day when absent."""
    from_: str | None = Field(default=None, alias="from")
    """Inclusive."""
    to: str | None = None
    """Exclusive, and after `from`."""


class MaskRule(AnswerModel):
    layers: list[int] | None = None
    label_pattern: str | None = None
    """RE2, found anywhere in the label."""
    top_influence: int | None = None
    """So many of the most influential neurons."""


class MeanShift(AnswerModel):
    mean: int | float
    low: int | float
    high: int | float


class Media(AnswerModel):
    media_id: str
    sha256: str
    size: int
    content_type: literals.MediaContentType | str
    width: int | None
    height: int | None
    created_at: str


class MediaDetails(Media):
    uploaded_at: str
    """When the same bytes were last uploaded."""
    claim_ids: list[str]
    """The claims whose captures show it, newest first."""
    has_more_claims: bool
    """More than 100 claims show it."""


class MissingApprovals(AnswerModel):
    roles: list[literals.ApproverRole | str]
    approvals: int


class Model(AnswerModel):
    model: str
    default: bool
    """Requests that name no model use it."""
    embedded: bool
    """It comes with the service."""
    backend: literals.ModelBackend | str
    usable: bool
    """false: its file can not be loaded."""
    capabilities: ModelCapabilities
    version: ModelVersion | None
    probe_set: CanaryProbeSet | None


class ModelCapabilities(AnswerModel):
    generate: bool
    activations: bool
    """The logit lens and other internals."""
    attribution: literals.AttributionCapability | str
    canary: literals.CanaryCapability | str
    """none: `canary_set` is refused."""
    intervene: bool
    deterministic: bool
    """The same request gives the same tokens and readings."""


class ModelList(AnswerModel):
    object: Literal["list"] | str
    data: list[Model]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ModelToolCall(AnswerModel):
    name: str
    arguments: str
    """As the model made them."""


class ModelVersion(AnswerModel):
    model_version_id: str
    sha256: str
    architecture: str
    layers: int
    width: int
    mlp: int
    """Neurons of each layer."""
    vocabulary: int
    context_tokens: int
    """The longest text, prompt and completion together."""
    chat: bool
    """It takes `messages`; otherwise `prompt` only."""


class MonthUse(AnswerModel):
    month: str
    """In UTC, such as 2026-11."""
    environment: Literal["live"] | str
    """The sandbox is not metered."""
    resets_at: str
    """When the next month begins."""
    used: int
    """Negative where more was given back than counted."""
    cap: int | None
    """Of the current plan; null for a month that has ended."""
    is_hard_cap: bool | None
    remaining: int | None
    percent: int | float | None


class NextTokenDivergence(AnswerModel):
    mean: int | float | None
    tokens: int
    unit: Literal["nats"] | str
    undefined_because: str | None


class Observation(AnswerModel):
    """What was seen beside the factors."""

    code: str
    evidence: FactorEvidence


class OfferedPlan(AnswerModel):
    plan: literals.Plan | str
    limits: PlanLimits
    change: literals.PlanChange | str
    """Who can change to it: the owner, to a smaller plan; the operator of the service, to a larger one."""


class OldestApproval(AnswerModel):
    approval_id: str
    asked_at: str


class OperationUse(AnswerModel):
    operation: literals.MeteredOperation | str
    units: int
    """Negative where more was given back than counted."""
    days: list[UsageDay]


class Overview(AnswerModel):
    environment: literals.Environment | str
    cases: OverviewCases | None
    approvals: OverviewApprovals | None
    captures: OverviewBatchWork | None
    screenings: OverviewBatchWork | None
    traces: OverviewTraces | None
    webhooks: OverviewWebhooks | None
    devices: OverviewDevices | None
    agents: OverviewAgents | None
    locks: OverviewLocks | None
    stop: OverviewStop | None
    keys: OverviewKeys | None
    usage: OverviewUsage | None
    not_readable: list[literals.OverviewPart | str]
    """The parts that are null, as the caller may not read what they count."""


class OverviewAgents(AnswerModel):
    suspended: CappedCount
    """By a person or a key."""
    held_by_lock: CappedCount


class OverviewApprovals(AnswerModel):
    awaiting: CappedCount
    """For a user: what `GET /v1/approvals?awaiting=me` lists. For a key: pending."""


class OverviewBatchWork(AnswerModel):
    running_batches: CappedCount
    """Batches with a line that waits or is in work. It looks at the first thousand lines of both."""
    failed_jobs: CappedCount
    """Jobs that ended without a result. They go on when they are retried."""


class OverviewCases(AnswerModel):
    unassigned: CappedCount
    """Open, without an assignee."""
    mine: CappedCount | None
    """Open, assigned to the caller. null: the caller is a key."""
    overdue: CappedCount
    """Open, and past the due date."""


class OverviewDevices(AnswerModel):
    expiring_devices: CappedCount
    """Devices whose certificate ends within 30 days."""
    expiring_root_cas: CappedCount
    """Root CAs that end within 30 days."""
    expiring_anchors: CappedCount
    """C2PA trust anchors that end within 30 days."""


class OverviewKeys(AnswerModel):
    expiring: CappedCount
    """API keys that end within 30 days."""


class OverviewLocks(AnswerModel):
    locked: CappedCount


class OverviewStop(AnswerModel):
    stopped_at: str | None
    """null: no stop is in force."""


class OverviewTraces(AnswerModel):
    failed_jobs: CappedCount
    """Attributions and diffs that ended without a result."""


class OverviewUsage(AnswerModel):
    notice: literals.AccountNoticeKind | str | None
    """The latest of this month; null: none yet."""


class OverviewWebhooks(AnswerModel):
    failing_endpoints: CappedCount
    """Enabled, and deliveries wait as the last ones failed."""
    disabled_endpoints: CappedCount
    failed_deliveries: CappedCount
    """Deliveries that are not tried again by themselves."""


class P256PublicKey(AnswerModel):
    kty: Literal["EC"]
    crv: Literal["P-256"] | str
    x: str
    y: str


class PacketAttestationMedia(AnswerModel):
    media_id: str
    sha256: str
    """SHA-256, lower-case hex."""
    size: int
    content_type: str
    width: int | None
    height: int | None
    is_erased: bool


class PacketAttestationSubmissionSignature(AnswerModel):
    alg: str
    value: str


class PacketAttestationSubmission(AnswerModel):
    media_type: str
    claim: Any | None = None
    bundle: Any | None = None
    assertion: str | None = None
    signature: PacketAttestationSubmissionSignature | None = None
    stream: str | None = None
    """The capture session that the media were streamed to."""


class PacketAttestationKey(AnswerModel):
    source: Literal["certificate", "device"] | str
    spki: str
    """base64 of DER."""


class PacketAttestationCertificatesChain(AnswerModel):
    der: str
    """base64 of DER."""
    subject: str
    issuer: str
    serial: str
    not_before: str
    not_after: str
    fingerprint: str
    """SHA-256, lower-case hex."""


class PacketAttestationCertificates(AnswerModel):
    source: Literal["submission", "device", "none"] | str
    """device: none was sent, these are enrolled."""
    chain: list[PacketAttestationCertificatesChain]


class PacketAttestationDistance(AnswerModel):
    metres: int | float
    accuracy_metres: int | float
    mock: bool


class PacketAttestationResult(AnswerModel):
    observations: list[Observation]
    provenance_status: str
    risk_status: str
    risk_score: int
    hardware_tier: str
    rules_version: str
    factors: list[Factor]
    advisory_factors: list[AdvisoryFactor]
    result_jws: str
    signing_key_revoked: KeyRevocation | None = None
    """Of the key that signed `result_jws`."""


class PacketAttestationEarlierResults(AnswerModel):
    evaluated_at: str
    replaced_at: str
    risk_status: str
    risk_score: int
    provenance_status: str
    result_jws: str
    signing_key_revoked: KeyRevocation | None = None


class PacketAttestation(AnswerModel):
    attestation_id: str
    external_id: str | None
    batch_id: str | None
    device_id: str | None
    status: literals.PacketAttestationStatus | str
    accepted_at: str
    evaluated_at: str | None
    erased_at: str | None
    """When its media and positions were erased."""
    media: PacketAttestationMedia
    submission: PacketAttestationSubmission
    """As it was sent; after an erasure, what is left."""
    bundle_sha256: str | None
    """base64url SHA-256 of the canonical bundle (RFC 8785), as the signed result has it."""
    key: PacketAttestationKey | None
    """The key that checks the bundle’s signature."""
    certificates: PacketAttestationCertificates
    distance: PacketAttestationDistance | None
    """From the position of the bundle to where the loss was: of the claim’s first-stated place and this submission’s
    own, the farther.
    """
    result: PacketAttestationResult | None
    found_later: list[Observation]
    """Found after the result was signed: the same or a similar picture in other claims."""
    earlier_results: list[PacketAttestationEarlierResults]
    """Results that later ones replaced, oldest first: the five newest of them."""
    failure: str | None


class PacketCase(AnswerModel):
    case_id: str
    claim_id: str
    status: literals.CaseStatus | str
    reason_code: literals.CaseReason | str | None
    """Of the last transition."""
    assignee: str | None
    """The `user_id` of a member, or the label that an API key gave."""
    priority: literals.CasePriority | str
    version: int
    """One more with each entry of the history."""
    created_at: str
    updated_at: str
    closed_at: str | None
    fraud_suspected_by: str | None
    """The first who named suspected_fraud."""
    history: list[PacketCaseEntry]
    """Oldest first."""
    history_omitted: int
    """Entries before the first that is here."""


class PacketCaseEntry(AnswerModel):
    version: int
    """Of the case, which this entry made."""
    kind: literals.CaseEntryKind | str
    at: str
    from_: literals.CaseStatus | str | None = Field(alias="from")
    to: literals.CaseStatus | str | None
    reason_code: literals.CaseReason | str | None
    note: str | None
    note_erased_at: str | None
    """When the note was erased with its claim."""
    changes: list[CaseChange]
    via: literals.PacketEntryVia | str
    actor: str | None
    """With an API key as the caller stated it, with a session its user; null for the service itself."""
    api_key_id: str | None
    note_withheld: bool
    """There is a note; the key has no scope escalate."""


class PacketClaim(AnswerModel):
    claim_id: str
    reference: str | None
    line: str | None
    loss_location: Position | None
    loss_at: str | None
    risk_status: literals.ClaimRiskStatus | str
    risk_score: int | None
    provenance_status: literals.ProvenanceStatus | str | None
    factor_codes: list[literals.FactorCode | str]
    advisory_codes: list[literals.AdvisoryCode | str]
    created_at: str
    updated_at: str
    erased_at: str | None


class PacketDevice(AnswerModel):
    device_id: str
    name: str | None
    status: literals.DeviceStatus | str
    hardware_tier: literals.HardwareTier | str
    hardware: Hardware | None
    certificate: Certificate
    spki_sha256: str
    enrolled_at: str
    expires_at: str
    """When its certificate expires: from then on it counts as not enrolled."""
    revoked_at: str | None
    revoke_effective_at: str | None
    revoke_reason: str | None
    spki: str


class PasskeyChallenge(AnswerModel):
    challenge_id: str
    challenge: str
    """base64url of SHA-256 of the canonical JSON of action_hash, payload_hash, agent_session_id, device_id and a
    nonce.
    """
    expires_at: str
    options: PasskeyRequestOptions
    """For PublicKeyCredential.parseRequestOptionsFromJSON, and then navigator.credentials.get."""


class PasskeyDescriptor(AnswerModel):
    type: Literal["public-key"] | str
    id: str
    transports: list[str] | None = None


class PasskeyRequestOptions(AnswerModel):
    challenge: str
    rpId: str
    timeout: int
    allowCredentials: list[PasskeyDescriptor]
    """Empty: browsers offer the passkeys that they know."""
    userVerification: Literal["required"] | str


class PemCertificate(Certificate):
    pem: str


class PendingDeliveries(AnswerModel):
    count: int
    is_exact: bool
    """false: there are more than `count`, and there may be older ones."""
    oldest_created_at: str | None


class PingData(AnswerModel):
    webhook_endpoint_id: str


class PingEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["ping"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: PingData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class PlanLimits(AnswerModel):
    rate_per_second: int | float
    burst: int
    monthly_operations: int
    """Metered operations of the live environment in a month (UTC)."""
    is_hard_cap: bool
    """Beyond them `monthly_cap_exceeded` is answered; otherwise there are notices only."""
    retention_days: int


class PolicyVersion(AnswerModel):
    version: int
    """0: the defaults, before anything was set."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    rolled_back_to: int | None
    """The version whose document this one repeats."""


class Policy(PolicyVersion):
    document: PolicyDocument
    builtin_rules: list[BuiltinPolicyRule]
    """What `default_rules` come to, written as rules."""


class PolicyAnalysis(AnswerModel):
    findings: list[PolicyFinding]
    complete: bool
    """false: more than 500 findings, or too many rules of too many cases to compare all."""


class PolicyApprovalRequirement(AnswerModel):
    min_approvals: int | None = None
    """Default: `1`."""
    roles: list[literals.ApproverRole | str] | None = None
    """Each of the approving people has one of these. Default: all three."""
    ttl_seconds: int | None = None
    """Default: `3600`."""
    require_passkey: bool | None = None
    """Each of them signs the action with a passkey. Default: `false`."""


class PolicyApprovals(AnswerModel):
    require_human_session: bool | None = None
    """API keys decide no approvals, only people who are signed in; earlier votes of keys do not count. Default: true
    in live, false in sandbox.
    """
    separation_of_duties: bool | None = None
    """Who asked for the action, and the owner of the agent, can not decide it. Default: true in an account with two or
    more members.
    """


class PolicyCanaryRequirement(AnswerModel):
    set: str
    families: list[str] | None = None
    """Default: every family of the set."""
    mode: literals.CanaryMode | str
    max_age_s: int | None = None
    source: Literal["inference"] | str | None = None
    """Only a traced inference of the agent itself satisfies it, and no `inference_input` that a model read."""


class PolicyCondition(AnswerModel):
    all: list[PolicyCondition] | PolicyQuantifier | None = None
    """A list: every condition holds. An object: every element of a list meets its condition. Empty: always."""
    any: list[PolicyCondition] | PolicyQuantifier | None = None
    """A list: a condition holds. An object: an element of a list meets its condition. Empty: never."""
    not_: PolicyCondition | None = Field(default=None, alias="not")
    field: str | None = None
    """What is compared, such as `context.transaction_amount`. A name that does not exist is refused."""
    op: literals.PolicyOperator | str | None = None
    value: str | int | float | bool | list[str | int | float | bool] | None = None
    timezone: str | None = None
    """IANA zone of `time.hour` and `time.weekday`. Default: UTC."""


class PolicyDefaultRules(AnswerModel):
    biometric_flag: bool | None = None
    """`context.require_biometric` requires a token that is bound to a biometric. Default: `true`."""
    hardware_above: int | float | str | None = None
    """A transaction amount strictly above requires a hardware-attested device. null: none does. Default: `500`."""


class PolicyDocument(AnswerModel):
    """Its digest covers the names of its members. A name that is not known here is refused."""

    name: str | None = None
    """Default: `default`."""
    default_rules: PolicyDefaultRules | None = None
    """Default: `{}`."""
    approvals: PolicyApprovals | None = None
    require_bindings: bool | None = None
    """Verify has to name the agent session, the device, the audience and the context evidence that the token is bound
    to: what is left out is answered as if it differed. Default: false.
    """
    rules: list[PolicyRule] | None = None
    """Default: `[]`."""


class PolicyFinding(AnswerModel):
    code: literals.PolicyFindingCode | str
    rule_id: str
    pointer: str
    other_rule_id: str | None = None
    detail: str


class PolicyNeed(AnswerModel):
    kind: literals.PolicyNeedKind | str
    rule_id: str
    url: str | None = None
    timeout_ms: int | None = None
    set: str | None = None
    families: list[str] | None = None
    mode: literals.CanaryMode | str | None = None
    max_age_s: int | None = None
    source: Literal["inference"] | str | None = None


class PolicyQuantifier(AnswerModel):
    in_: str = Field(alias="in")
    """The list, such as `action_payload.items`. Any other value is an error."""
    as_: str = Field(alias="as")
    """What fields in `when` call an element: with `item` they are `item` itself and `item.sku`."""
    when: PolicyCondition
    """What the element must meet. Fields of the policy may stand here too."""


class PolicyRefusal(AnswerModel):
    reason: str
    matched_rule_id: str
    kind: literals.PolicyRefusalKind | str
    priority: int
    webhook_reason: str | None = None
    canary_set: str | None = None
    canary_readings: Any | None = None


class ReplayedDecisionList(AnswerModel):
    object: Literal["list"] | str
    data: list[ReplayedDecision]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class PolicyReplay(ReplayedDecisionList):
    looked: int
    """Decisions that this page has examined, oldest first."""
    looked_to: str | None
    """When the last of them was made."""
    would_change: int
    """All are in `data`."""
    unaffected: int
    """Refused before the policy was asked, or while the account was stopped."""
    unknown: int
    """The document needs an answer that was not asked for then, or no facts were recorded."""
    rules: list[ReplayedRule]
    """Decisions that each rule refused then, and refuses under the document that was sent."""


class PolicyRequirement(AnswerModel):
    deny: Literal[True] | int | None = None
    biometric: Literal[True] | int | None = None
    """The token is bound to a biometric."""
    hardware: Literal[True] | int | None = None
    """The device is hardware-attested: its tier is tee or higher."""
    min_tier: literals.HardwareTier | str | None = None
    canary: PolicyCanaryRequirement | None = None
    """Without a reading `strict` refuses and `best_effort` does not."""
    webhook: PolicyWebhookRequirement | None = None
    approval: PolicyApprovalRequirement | None = None
    """That many people approve the action before it may run."""


class PolicyRule(AnswerModel):
    id: str
    description: str | None = None
    priority: int | None = None
    """Lower comes first. Default: `100`."""
    enabled: bool | None = None
    """Default: `true`."""
    shadow: bool | None = None
    """Evaluated and reported, never deciding. Default: `false`."""
    when: PolicyCondition | None = None
    """Default: always."""
    on_missing: Literal["match"] | str | None = None
    """For deny rules: a missing field counts for the match. Otherwise its comparison is false, and in a deny rule that
    of `ne` and `not_in` true.
    """
    require: PolicyRequirement
    reason: str | None = None
    """Answered in place of the code of the requirement, as written."""


class PolicyRuleResult(AnswerModel):
    rule_id: str
    effect: literals.PolicyEffect | str
    matched: bool
    met: bool
    shadow: bool
    error: str | None = None
    """The condition met a value of the wrong type, or names no field: matched and unmet."""
    note: str | None = None


class ShadowRuleList(AnswerModel):
    object: Literal["list"] | str
    data: list[ShadowRule]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class PolicyShadowReport(ShadowRuleList):
    from_: str = Field(alias="from")
    to: str
    looked: int
    """Decisions that this page has examined, oldest first."""
    looked_to: str | None
    """When the last of them was made."""


class PolicySimulation(AnswerModel):
    policy_version: int | None
    """null: the document that was sent."""
    would_be_valid: bool
    reason: str | None
    """The first refusal; policy_webhook_pending where it waits for a webhook."""
    matched_rule_id: str | None
    refusals: list[PolicyRefusal]
    """In the published order."""
    results: list[PolicyRuleResult]
    """Of every enabled rule, by priority and id."""
    shadow: list[PolicyRuleResult]
    needs: list[PolicyNeed]
    """What verify would ask before it answers."""


class PolicyValidation(AnswerModel):
    valid: bool
    errors: list[FieldError]
    findings: list[PolicyFinding]
    """Deny rules of a valid document that a missing field turns off. analyze finds these and more."""


class PolicyVersionSummary(PolicyVersion):
    name: str
    rules: int
    """How many."""


class PolicyVersionSummaryList(AnswerModel):
    object: Literal["list"] | str
    data: list[PolicyVersionSummary]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class PolicyWebhookRequirement(AnswerModel):
    url: str
    timeout_ms: int | None = None
    """Default: `3000`."""


class PolicyWebhookSecret(AnswerModel):
    rotated_at: str | None
    """null: there is no secret yet, and webhook rules deny."""
    rotated_by: Actor | None
    previous_expires_at: str | None
    """Until when the secret before this one signs as well; null when there is none."""


class Position(AnswerModel):
    lat: int | float
    lng: int | float


class PreviewedAgent(AnswerModel):
    agent_id: str | None
    """null: requests that named no agent."""
    refused: int
    """Checks that would have been refused, and inferences that would have been withheld."""
    locks: int
    """Sessions and agents that would have been locked."""


class PreviewedFamily(AnswerModel):
    family: str
    refused: int
    """Checks that would have been refused, and inferences that would have been withheld."""
    locks: int
    """Sessions and agents that would have been locked."""
    uncounted: int
    """It tripped and does not count: its probe is experimental."""


class PreviewedReason(AnswerModel):
    reason: literals.CheckReason | str
    refused: int


class PreviewedRequests(AnswerModel):
    checks: int
    inferences: int


class ReasonCode(AnswerModel):
    code: str
    """It never changes its meaning. New ones are added."""
    places: list[literals.ReasonPlace | str]
    """Where it appears. verify: the `reason` of a verification; clinician_order: an order of a clinician; factor: a
    risk factor, which adds points; advisory: a finding that never does; case: the reason of a case; finish_reason:
    of a completion; ledger: an entry of the decision ledger.
    """
    meaning: str
    points: int | None
    """What a factor adds to the risk score; null: nothing."""
    remedy: str
    """What to do about it."""


class ReasonCodeList(AnswerModel):
    object: Literal["list"] | str
    data: list[ReasonCode]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RecordedPolicyAnswer(AnswerModel):
    """What verify answered then."""

    valid: bool
    reason: str | None


class RecoveryFailure(AnswerModel):
    code: Literal["internal_error"] | str
    detail: str


class Reevaluation(AnswerModel):
    reevaluation_id: str
    cause: literals.ReevaluationCause | str
    device_id: str | None = None
    policy_version: int | None = None
    media_sha256: str | None = None
    status: literals.WorkStatus | str
    """succeeded: every attestation that it affects was re-evaluated, or counts as failed."""
    failure: ReevaluationFailure | None
    """With `failed`: `attempts_exhausted`. The search ended, and an operator can start it again."""
    searched_at: str | None
    """When all affected attestations were found; null while they are searched, and `touched` grows."""
    looked: int
    """Attestations examined so far."""
    touched: int
    """Those of them that are re-evaluated: the sum of the five below."""
    pending: int
    changed: int
    unchanged: int
    skipped: int
    """Neither the facts nor the media are stored any more."""
    failed: int
    """Not tried again automatically: an operator can redrive them."""
    created_at: str
    finished_at: str | None


class ReevaluationFailure(AnswerModel):
    code: Literal["attempts_exhausted"] | str
    detail: str


class ReevaluationList(AnswerModel):
    object: Literal["list"] | str
    data: list[Reevaluation]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RefreshedLine(AnswerModel):
    line: int
    device_id: str
    proven_tier: literals.HardwareTier | str


class RejectedLine(AnswerModel):
    line: int
    """From 1: lines of NDJSON as an editor counts them, blank ones too; elements of an array."""
    errors: list[FieldError]


class RejectedLineList(AnswerModel):
    object: Literal["list"] | str
    data: list[RejectedLine]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RejudgedClaim(AnswerModel):
    claim_id: str
    reference: str | None
    before: JudgedStanding
    after: JudgedStanding
    added_factors: list[literals.FactorCode | str]
    removed_factors: list[literals.FactorCode | str]
    added_advisories: list[literals.AdvisoryCode | str]
    removed_advisories: list[literals.AdvisoryCode | str]


class RejudgedClaimList(AnswerModel):
    object: Literal["list"] | str
    data: list[RejudgedClaim]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ReplacedResult(AnswerModel):
    number: int
    """From 1, the first result."""
    evaluated_at: str
    replaced_at: str
    replaced_for: list[str]
    """The re-evaluations that replaced it."""
    risk_status: literals.RiskStatus | str
    risk_score: int
    provenance_status: literals.ProvenanceStatus | str
    hardware_tier: literals.HardwareTier | str
    rules_version: str
    policy_version: int | None
    result_jws: str
    signing_key_revoked: KeyRevocation | None = None
    """Of the key that signed `result_jws`."""


class ReplacedResultList(AnswerModel):
    object: Literal["list"] | str
    data: list[ReplacedResult]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ReplayedDecision(AnswerModel):
    decision_id: str
    jti: str | None
    at: str
    before: RecordedPolicyAnswer
    after: ReplayedPolicyAnswer


class ReplayedPolicyAnswer(RecordedPolicyAnswer):
    matched_rule_id: str | None


class ReplayedRule(AnswerModel):
    rule_id: str
    refused_before: int
    refuses_after: int


class RequiredApproval(AnswerModel):
    approval_id: str
    status: literals.ApprovalStatus | str
    min_approvals: int
    roles: list[literals.ApproverRole | str]
    require_passkey: bool
    rule_ids: list[str]
    expires_at: str


class Revocation(AnswerModel):
    revocation_id: str
    scope: literals.RevokedScope | str
    jti: str | None
    agent_session_id: str | None
    device_id: str | None
    reason: str
    revoked_by: Actor
    tokens_revoked: int
    """Unexpired tokens that ended with it."""
    created_at: str
    expires_at: str | None


class RevocationList(AnswerModel):
    object: Literal["list"] | str
    data: list[Revocation]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RevokedApiKey(ApiKey):
    invites_revoked: list[str]
    """Pending invites that the key sent."""
    keys_created: list[str]
    """API keys that the key created, or that such keys created, and that still work: revoke them too, unless you know
    who uses them.
    """
    warnings: list[ApiKeyWarning]


class RiskHistogram(AnswerModel):
    passed: int
    review: int
    failed: int


class RiskPolicy(AnswerModel):
    version: int
    """0: the defaults, before anything was set."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    document: RiskPolicyDocument


class RiskPolicyDocument(AnswerModel):
    require_attestation: bool
    """A photo without a signed bundle is noted."""
    require_biometric: bool
    """A capture that no biometric gated is noted."""
    require_gps: bool
    """A capture without a GPS fix is noted."""
    require_session_nonce: bool | None = None
    """A bundle without a nonce raises session_nonce_mismatch, as it always does for video. Default: `false`."""
    thresholds: RiskThresholds
    """From which score on a claim is for review, and from which on it has failed."""
    geofence_m: int | float
    """How many metres a capture may be away from the loss, less its own accuracy."""


class RiskPolicyDryRun(RejudgedClaimList):
    looked: int
    """Claims that this page has examined."""
    would_change: int
    """Those of them that would change: all are in `data`."""
    unknown: int
    """Those of them that can’t be told without judging them again: judged by older rules, or very many captures."""


class RiskPolicyList(AnswerModel):
    object: Literal["list"] | str
    data: list[RiskPolicy]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RiskThresholds(AnswerModel):
    review: int
    failed: int


class RootCa(AnswerModel):
    root_ca_id: str
    name: str
    certificate: PemCertificate
    created_at: str


class RootCaList(AnswerModel):
    object: Literal["list"] | str
    data: list[RootCa]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RotatedApiKey(CreatedApiKey):
    predecessor: ApiKey


class RotatedPolicyWebhookSecret(PolicyWebhookSecret):
    secret: str | None = None
    """Shown now and never again."""
    secret_shown: Literal[False] | int | None = None
    """A replay of the rotation, without the secret."""


class Schedule(AnswerModel):
    schedule_id: str
    status: literals.ScheduleStatus | str
    counterparty: str
    amount: ScheduleAmount
    frequency: str
    """One of `daily`, `weekly`, `monthly`, `quarterly` and `yearly`, or a recurrence rule of RFC 5545."""
    anchor_at: str
    timezone: str
    window_seconds: int
    occurrences: int
    consume_missed: bool
    used: int
    """Occurrences that are used; with `consume_missed` those that were missed too."""
    remaining: int
    current_cycle: CurrentScheduleCycle | None
    """Its window may have closed. null: the first has not begun."""
    next_cycle: ScheduleCycle | None
    """The first that can be executed, now or later, unless the schedule stays paused. null: none."""
    last_execution: ScheduleExecution | None
    created_by: Actor
    created_at: str
    status_changed_by: Actor | None
    """Who paused, resumed or cancelled it last."""
    status_changed_at: str | None


class ScheduleAmount(AnswerModel):
    type: literals.ScheduleAmountType | str
    value: str
    """Decimal."""
    currency: str


class ScheduleExecution(AnswerModel):
    cycle: int
    jti: str
    executed_at: str


class ScheduleList(AnswerModel):
    object: Literal["list"] | str
    data: list[Schedule]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class SchedulePreview(AnswerModel):
    schedule_id: str
    status: literals.ScheduleStatus | str
    cycles: list[ScheduleCycle]
    """At most 24, and at most those that remain."""


class ScoreBins(AnswerModel):
    edges: list[int | float]
    base: list[int]
    target: list[int]


class Screening(AnswerModel):
    screening_id: str
    status: literals.WorkStatus | str
    failure: ScreeningFailure | None
    """Why there is no score; null when there is one, or none yet."""
    claim_id: str | None
    screening_batch_id: str | None
    batch_line: int | None
    media_id: str
    media_sha256: str
    genai_score: int | float | None
    """0 to 1; null unless the detector said it."""
    deepfake_score: int | float | None
    """0 to 1; null unless the detector said it."""
    models: list[GeneratorScore]
    """Of single generators, highest first."""
    review_recommended: bool | None
    """A score is at or above `review`; null without a score."""
    factors: list[AdvisoryFactor]
    """Advisory: they never count toward a risk score."""
    observations: list[Observation]
    """What the file itself declares about how it was made; not a score."""
    detector: ScreeningDetector | None
    """The detector that was asked, and the thresholds of the account at that time."""
    is_cached: bool
    """The score is of an earlier screening of the same bytes."""
    created_at: str
    completed_at: str | None
    erased_at: str | None


class ScreeningBatch(AnswerModel):
    screening_batch_id: str
    status: literals.WorkStatus | str
    failure: None
    """A line that fails says why in its own screening."""
    accepted: int
    rejected_count: int
    counts: WorkCounts
    """Accepted lines by status; their sum is `accepted`."""
    created_at: str


class ScreeningBatchList(AnswerModel):
    object: Literal["list"] | str
    data: list[ScreeningBatch]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ScreeningCompletedData(AnswerModel):
    screening_id: str
    claim_id: str | None
    genai_score: int | float | None
    deepfake_score: int | float | None
    factors: list[literals.AdvisoryCode | str]
    detector: EventDetector


class ScreeningCompletedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["screening.completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ScreeningCompletedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class ScreeningDetector(AnswerModel):
    name: str
    version: str
    thresholds: ScreeningThresholds


class ScreeningFailure(AnswerModel):
    code: literals.ScreeningFailureCode | str
    detail: str


class ScreeningList(AnswerModel):
    object: Literal["list"] | str
    data: list[Screening]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ScreeningSettings(AnswerModel):
    version: int
    """0: the defaults, before anything was set."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    document: ScreeningSettingsDocument


class ScreeningSettingsDocument(AnswerModel):
    thresholds: ScreeningSettingsThresholds


class ScreeningSettingsThreshold(AnswerModel):
    review: int | float
    """From this score on a look is recommended."""
    likely: int | float
    """From this score on it is an advisory factor."""


class ScreeningSettingsThresholds(AnswerModel):
    genai: ScreeningSettingsThreshold
    deepfake: ScreeningSettingsThreshold


class ScreeningThreshold(AnswerModel):
    review: int | float
    likely: int | float


class ScreeningThresholds(AnswerModel):
    genai: ScreeningThreshold
    deepfake: ScreeningThreshold


class SearchResult(AnswerModel):
    type: literals.SearchResultType | str
    id: str
    title: str
    """What people read: a reference, a name, an address, or the id."""


class SearchResults(AnswerModel):
    data: list[SearchResult]
    """At most five of each type."""
    truncated: bool
    """Of a type there are more: type more of the text."""


class SentPing(AnswerModel):
    webhook_endpoint_id: str
    event_id: str
    delivery_id: str


class Session(AnswerModel):
    session_id: str
    user: SessionUser
    account: SessionAccount
    role: literals.Role | str
    method: literals.SignInMethod | str
    environments: list[literals.Environment | str]
    """What Service-Environment may name: only the sandbox when the link was shown and not mailed."""
    permissions: SessionPermissions
    csrf_token: str
    """For the header X-CSRF-Token of every request that changes something."""
    created_at: str
    expires_at: str
    """It ends then at the latest."""
    idle_timeout_seconds: int
    """It ends after this long without a request."""


class SessionLock(AnswerModel):
    lock_id: str
    status: literals.SessionLockStatus | str
    agent_session_id: str | None
    """null: the agent is locked, whatever the session."""
    agent_id: str | None
    """The registered agent that the lock suspends."""
    trace_id: str | None
    """The readings that tripped."""
    tripped_families: list[str]
    source: literals.TripSource | str
    """Which request found the trip."""
    jti: str | None
    """With `verify`: of the token."""
    matched_rule_id: str | None
    """With `verify`: the rule of the policy."""
    locked_at: str
    cleared_at: str | None
    cleared_by: Actor | None
    note: str | None
    agent_unsuspended: bool | None
    """Whether clearing it resumed the agent."""


class SessionLockList(AnswerModel):
    object: Literal["list"] | str
    data: list[SessionLock]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class SessionPermissions(AnswerModel):
    """What this session may do, by environment."""

    sandbox: list[literals.Permission | str]
    live: list[literals.Permission | str]


class SessionUser(AnswerModel):
    user_id: str
    email: str


class ShadowRule(AnswerModel):
    rule_id: str
    matched: int
    would_deny: int
    would_allow: int
    shadow_webhook_unevaluated: int
    """Its webhook or canary was not asked: shadow rules never are."""
    errors: int
    divergent: int
    """Valid decisions that the rule would have refused."""
    examples: list[str]
    """Some of those decisions."""


class ShareView(AnswerModel):
    view_id: str
    share_id: str
    viewed_at: str
    network: str
    """The address, truncated to /24 or /48."""
    request_id: str | None
    """Of the granted person; null: with the token of the share."""
    graph: bool
    """Whether the graph was shown."""
    masked_nodes: int
    disclosed_nodes: int


class ShareViewList(AnswerModel):
    object: Literal["list"] | str
    data: list[ShareView]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class SharedDisclosure(AnswerModel):
    request_id: str
    expires_at: str
    node_ids: list[str]
    """Of what is disclosed, the nodes of the graph."""


class SharedView(AnswerModel):
    share_id: str
    expires_at: str
    trace: TraceReadings
    masked_nodes: int
    """How many neurons are masked in this answer."""
    disclosure_mode: literals.DisclosureMode | str
    reveals_prompt: bool
    """false: the graph shows the last position of the text, and all before it as one node for each message."""
    disclosure: SharedDisclosure | None
    """With the token of a granted person."""
    graph: AttributionManifest | None
    """The manifest of the job, masked: the schema of circuit-tracer and Neuronpedia."""


class ShiftedNeuron(AnswerModel):
    layer: int
    neuron: int
    base_mean: int | float
    target_mean: int | float
    effect: int | float


class SignedEvidencePacket(AnswerModel):
    object: Literal["evidence_packet"] | str
    packet: EvidencePacket
    packet_sha256: str
    """SHA-256 (hex) of the canonical packet (RFC 8785)."""
    signature: str
    """A JWS (typ evidence-packet+jwt) over packet_sha256 and the digest of each part: docs/attest/evidence.md."""


class Statement(AnswerModel):
    month: str
    """In UTC, such as 2026-11."""
    from_: str = Field(alias="from")
    to: str
    """Exclusive."""
    status: literals.StatementStatus | str
    """A statement no longer changes one hour after its month has ended."""
    operations: list[StatementLine]
    total_units: int
    """Negative where more was given back than counted."""
    payment_processor: str
    """`none`: nothing is collected."""
    payment: StatementPayment | None


class StatementLine(AnswerModel):
    operation: literals.MeteredOperation | str
    units: int
    """Negative where more was given back than counted."""


class StatementList(AnswerModel):
    object: Literal["list"] | str
    data: list[Statement]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class StatementPayment(AnswerModel):
    status: literals.PaymentStatus | str
    url: str | None
    """Where a person pays, or sees that it was paid."""


class Submission(AnswerModel):
    """As it was sent: the bundle is what the signature covers."""

    media_type: str
    claim: Any | None = None
    bundle: Any | None = None
    assertion: str | None = None
    signature: Any | None = None
    certificate_chain: list[str] | None = None
    stream: str | None = None
    """The capture session that the media were streamed to."""


class SubmittedAttestation(Attestation):
    submission: Submission


class SubmittedAttestationList(AnswerModel):
    object: Literal["list"] | str
    data: list[SubmittedAttestation]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class SubmittedBatch(Batch):
    rejected: list[RejectedLine]
    """Later at `GET /v1/claims/batches/{id}/rejected`."""


class SubmittedScreeningBatch(ScreeningBatch):
    rejected: list[RejectedLine]
    """Later at `GET /v1/media/screenings/batches/{id}/rejected`."""


class TokenLogit(AnswerModel):
    logit: int | float
    probability: int | float


class TokenUsage(AnswerModel):
    prompt_tokens: int
    completion_tokens: int
    """Made by the model, withheld ones included."""


class TraceReadings(AnswerModel):
    trace_id: str
    source: literals.TraceSource | str
    """client: a caller sent the readings. They can refuse and lock, and allow nothing."""
    model_version_id: str | None
    canary: Canary | None
    """null: no probe read the inference."""
    created_at: str


class Trace(TraceReadings):
    agent_session_id: str | None
    agent_id: str | None
    inference: TracedInference | None
    """null: of readings alone."""
    created_by: Actor


class TraceCanaryTrippedData(AnswerModel):
    trace_id: str | None
    canary_hash: str
    canary_readings: list[JudgedCanary]
    tripped_families: list[str]
    mode: literals.KillSwitchMode | str
    source: literals.TripSource | str
    agent_id: str | None
    agent_session_id: str | None
    lock_id: str | None
    jti: str | None
    """The token of a verify, as `matched_rule_id` is its rule."""
    matched_rule_id: str | None


class TraceCanaryTrippedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["trace.canary_tripped"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceCanaryTrippedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class TraceDiff(AnswerModel):
    diff_id: str
    status: literals.WorkStatus | str
    base_model: str
    target_model: str
    eval_set: str
    """`default`, or the id of a set of your own."""
    seed: int
    thresholds: DiffThresholds
    progress: DiffProgress
    """Prompts."""
    pass_: bool | None = Field(alias="pass")
    verdict: literals.DiffVerdict | str | None
    families_drifted: list[str] | None
    report_hash: str | None
    """SHA-256 of the report’s canonical JSON (RFC 8785), in hexadecimal."""
    failure: TraceDiffFailure | None
    created_by: Actor
    created_at: str
    started_at: str | None
    finished_at: str | None


class TraceDiffCompletedData(AnswerModel):
    diff_id: str
    status: literals.WorkEnd | str
    base_model: str
    target_model: str
    pass_: bool = Field(alias="pass")
    verdict: literals.DiffVerdict | str | None
    families_drifted: list[str]
    report_hash: str | None


class TraceDiffCompletedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["trace.diff_completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDiffCompletedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class TraceDiffFailure(AnswerModel):
    code: literals.TraceDiffFailureCode | str
    detail: str


class TraceDiffList(AnswerModel):
    object: Literal["list"] | str
    data: list[TraceDiff]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class TraceDiffReport(AnswerModel):
    object: Literal["trace_diff_report"] | str
    version: Literal[1] | int | Literal[2] | int
    base: DiffModel
    target: DiffModel
    eval_set: DiffEvalSet
    settings: DiffSettings
    pass_: bool = Field(alias="pass")
    verdict: literals.DiffVerdict | str
    families: list[DiffFamily]
    families_drifted: list[str]
    families_uncompared: list[str]
    """With a probe in one of the models only."""
    next_token_kl: NextTokenDivergence
    """Of the target from the base, over the base’s completions."""
    shifted_neurons: list[ShiftedNeuron]
    """The largest effects first, in standard deviations."""
    runtime: str | None


class TraceDisclosureGrantedData(AnswerModel):
    request_id: str
    scope_kind: literals.ShareScope | str
    trace_id: str
    model_version_id: str | None
    expires_at: str
    decided_by: Actor
    """The service where the share discloses by itself."""


class TraceDisclosureGrantedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["trace.disclosure_granted"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDisclosureGrantedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class TraceDisclosureRequestedData(AnswerModel):
    request_id: str
    status: literals.DisclosureStatus | str
    scope_kind: literals.ShareScope | str
    trace_id: str
    model_version_id: str | None


class TraceDisclosureRequestedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["trace.disclosure_requested"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDisclosureRequestedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class TraceJobCompletedData(AnswerModel):
    job_id: str
    trace_id: str
    status: literals.WorkEnd | str
    method: literals.AttributionMethod | str
    model_version_id: str
    backend: literals.ModelBackend | str | None
    """null: the model is gone."""
    manifest_hash: str | None
    failure_code: literals.AttributionJobFailureCode | str | None


class TraceJobCompletedEvent(AnswerModel):
    event_id: str
    """Stable across retries of one event."""
    type: Literal["trace.job_completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceJobCompletedData
    position: int | None = None
    """Its place in the order of events, by the pull API alone. null: it has just happened, and gets one within
    seconds.
    """


class TraceList(AnswerModel):
    object: Literal["list"] | str
    data: list[Trace]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class TraceShareList(AnswerModel):
    object: Literal["list"] | str
    data: list[TraceShare]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class TraceTexts(AnswerModel):
    trace_id: str
    input: TracedPrompt
    """As the model got it, and as `prompt_hash` covers it: a conversation or a text."""
    completion: str | None
    """null where it was withheld: then it was never kept."""
    tool_calls: list[ModelToolCall] | None = None
    """Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none."""
    finish_reason: literals.FinishReason | str
    """canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended."""
    text_until: str | None
    """Until when the texts are kept."""


class TracedInference(AnswerModel):
    model: str
    finish_reason: literals.FinishReason | str
    """canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended."""
    usage: TokenUsage
    max_tokens: int
    temperature: int | float
    seed: int
    """With the same model version it gives the same completion."""
    prompt_hash: str
    """SHA-256 of the RFC 8785 text of the input as the model got it."""
    completion_hash: str | None
    """SHA-256 of the completion, with its calls of tools; null where it was withheld."""
    text_until: str | None
    """Until when its texts are kept: 30 days, and no longer than the trace. null: hashes alone, or the texts were
    erased.
    """


class TracedMessage(AnswerModel):
    role: literals.ChatRole | str
    content: str


class TracedPrompt(AnswerModel):
    messages: list[TracedMessage] | None = None
    text: str | None = None


class TracedToken(AnswerModel):
    index: int
    log_probability: int | float
    """The natural logarithm of its probability, at temperature 1."""
    readings: list[WindowScore] | None
    """Of the window that ends with this token."""
    token: int | None
    """null where no text is kept."""
    text: str | None
    lens: list[list[LensToken]] | None
    """For each layer, what the model would say before it; the last entry is after the last layer."""


class TracedTokenList(AnswerModel):
    object: Literal["list"] | str
    data: list[TracedToken]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class UnexecutedIntent(AnswerModel):
    jti: str
    decision_id: str
    """Of the authorization."""
    authorized_at: str
    preflight_reason: str | None
    """Why a verification at that time would have refused."""
    agent_id: str | None
    agent_session_id: str | None
    device_id: str | None
    mandate_id: str | None
    schedule_id: str | None
    approval_id: str | None
    last_verification: LastVerification | None
    """null: nobody ever presented the token."""


class UnexecutedIntentList(AnswerModel):
    object: Literal["list"] | str
    data: list[UnexecutedIntent]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class Usage(MonthUse):
    operations: list[OperationUse]


class UsageDay(AnswerModel):
    day: str
    """In UTC, such as 2026-11-20."""
    units: int
    """Negative where more was given back than counted."""


class User(AnswerModel):
    user_id: str
    email: str
    role: literals.Role | str
    status: literals.UserStatus | str
    created_at: str
    last_login_at: str | None
    deprovisioned_at: str | None


class UserList(AnswerModel):
    object: Literal["list"] | str
    data: list[User]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class UserRemoval(User):
    sessions_ended: int
    """How many of the user’s sessions ended with it."""
    invites_revoked: list[str]
    """Pending invites that the user sent and could not send any more; after a removal also those to the address."""
    keys_created: list[str]
    """API keys that the user created, or that such keys created, and that still work: revoke those that only they
    know.
    """


class UserRoleChange(UserRemoval):
    previous_role: literals.Role | str | None
    """null where this request changed nothing."""


class VerifyResult(AnswerModel):
    valid: bool
    reason: str | None
    """null when valid; else one of `invalid_token`, `approval_denied`, `approval_expired`, `token_expired`,
    `token_revoked`, `session_canary_locked`, `agent_suspended`, `action_hash_mismatch`, `payload_hash_mismatch`,
    `context_hash_mismatch`, `canary_reading_mismatch`, `token_already_executed`, `mandate_revoked`,
    `mandate_expired`, `mandate_heartbeat_lapsed`, `mandate_constraint_violated`, `mandate_budget_exceeded`,
    `schedule_counterparty_mismatch`, `schedule_amount_exceeded`, `schedule_already_executed`,
    `schedule_occurrences_exhausted`, `schedule_window_missed`, `prescriber_excluded`,
    `prescriber_tier_insufficient`, `controlled_substance_cosign_required`, `order_declined`, `biometric_required`,
    `hardware_required_above_500`, `policy_denied`, `policy_biometric_required`, `policy_hardware_required`,
    `policy_tier_required`, `canary_tripped`, `canary_unavailable`, `policy_webhook_denied`,
    `policy_webhook_unavailable`, `approval_pending`, or the own reason of a policy rule. Of several that apply, the
    first in this order is answered.
    """
    detail: str
    jti: str | None
    decision_id: str
    evaluated_at: str
    already_executed: bool | None = None
    """true: an earlier verification executed the action: with a single use, a mandate, a schedule or an approval, one
    of this caller with this Idempotency-Key. Do not run it again.
    """
    approval_id: str | None = None
    matched_rule_id: str | None = None
    webhook_reason: str | None = None
    unavailable_check: literals.PolicyNeedKind | str | None = None
    """What gave no answer, so that its rule refuses; also where the rule has a reason of its own. webhook: the policy
    webhook; canary: there is no reading of `canary_set`.
    """
    webhook_unavailable_cause: literals.PolicyWebhookUnavailableCause | str | None = None
    """With the check `webhook`: why it gave no answer."""
    revoked_scope: literals.RevokedScope | str | None = None
    lock_id: str | None = None
    canary_set: str | None = None
    canary_readings: list[dict[str, Any]] | None = None
    mandate_detail: MandateDetail | None = None
    mandate_remaining: str | None = None
    """What is left of the budget after this decision, of the mandate and all above it; null without a budget."""
    schedule_cycle: int | None = None
    """The cycle that it is now; null before the first."""
    receipt: str | None = None
    """JWS by a record key, where it was asked for; null when it could not be signed now."""


class WebhookCircuit(AnswerModel):
    """open: after failures in a row, deliveries are parked, without spending attempts. half_open: one is tried."""

    status: literals.WebhookCircuitStatus | str
    opened_at: str | None
    probe_at: str | None
    """When one delivery is tried next."""


class WebhookEndpointList(AnswerModel):
    object: Literal["list"] | str
    data: list[WebhookEndpoint]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class WebhookEndpointStatistics(AnswerModel):
    webhook_endpoint_id: str
    window: literals.StatisticsWindow | str
    from_: str = Field(alias="from")
    """The begin of a whole hour."""
    to: str
    attempts: int
    delivered: int
    failed: int
    """Attempts without a 2xx."""
    success_rate: int | float | None
    """delivered / attempts; null without attempts."""
    arrival_ms: DurationQuantiles
    response_ms: DurationQuantiles
    pending: PendingDeliveries


class WebhookRecovery(AnswerModel):
    recovery_id: str
    webhook_endpoint_id: str
    which: literals.RecoveryKind | str
    from_: str = Field(alias="from")
    """It sends what was made at or after this time,"""
    to: str
    """and before this one."""
    status: literals.WorkStatus | str
    """cancelled: the endpoint was disabled or deleted meanwhile."""
    failure: RecoveryFailure | None
    examined: int
    """Deliveries or events that it has looked at."""
    sent: int
    """Deliveries that it sends again, or for the first time."""
    created_by: Actor
    created_at: str
    updated_at: str
    finished_at: str | None


class WebhookRecoveryList(AnswerModel):
    object: Literal["list"] | str
    data: list[WebhookRecovery]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class WindowScore(AnswerModel):
    family: str
    score: int | float


class WorkCounts(AnswerModel):
    queued: int
    running: int
    succeeded: int
    failed: int
    cancelled: int


class UnknownAgentPublicKey(AnswerModel):
    """One that a later service added."""

    kty: str


AgentPublicKey: TypeAlias = Annotated[
    Annotated[P256PublicKey, Tag("EC")]
    | Annotated[Ed25519PublicKey, Tag("OKP")]
    | Annotated[UnknownAgentPublicKey, Tag("")],
    Discriminator(tag_of(
        "kty",
        "EC",
        "OKP",
    )),
]


DownloadBatchResultsResponseLine: TypeAlias = BatchResult | BatchResultsEnd


class UnknownEvent(AnswerModel):
    """One that a later service added."""

    type: str


Event: TypeAlias = Annotated[
    Annotated[AttestationCreatedEvent, Tag("attestation.created")]
    | Annotated[ClaimProvenanceUpdatedEvent, Tag("claim.provenance_updated")]
    | Annotated[ClaimEscalatedEvent, Tag("claim.escalated")]
    | Annotated[CaseStatusChangedEvent, Tag("case.status_changed")]
    | Annotated[ScreeningCompletedEvent, Tag("screening.completed")]
    | Annotated[TraceJobCompletedEvent, Tag("trace.job_completed")]
    | Annotated[TraceCanaryTrippedEvent, Tag("trace.canary_tripped")]
    | Annotated[TraceDiffCompletedEvent, Tag("trace.diff_completed")]
    | Annotated[TraceDisclosureRequestedEvent, Tag("trace.disclosure_requested")]
    | Annotated[TraceDisclosureGrantedEvent, Tag("trace.disclosure_granted")]
    | Annotated[ApprovalRequestedEvent, Tag("approval.requested")]
    | Annotated[ApprovalResolvedEvent, Tag("approval.resolved")]
    | Annotated[IntentRevokedEvent, Tag("intent.revoked")]
    | Annotated[PingEvent, Tag("ping")]
    | Annotated[UnknownEvent, Tag("")],
    Discriminator(tag_of(
        "type",
        "attestation.created",
        "claim.provenance_updated",
        "claim.escalated",
        "case.status_changed",
        "screening.completed",
        "trace.job_completed",
        "trace.canary_tripped",
        "trace.diff_completed",
        "trace.disclosure_requested",
        "trace.disclosure_granted",
        "approval.requested",
        "approval.resolved",
        "intent.revoked",
        "ping",
    )),
]
"""`type` tells the shape of `data`. Types may be added."""


class UnknownLedgerLine(AnswerModel):
    """One that a later service added."""

    type: str


LedgerLine: TypeAlias = Annotated[
    Annotated[LedgerHeadLine, Tag("head")]
    | Annotated[LedgerEntryLine, Tag("entry")]
    | Annotated[LedgerLeafLine, Tag("leaf")]
    | Annotated[LedgerCheckpointLine, Tag("checkpoint")]
    | Annotated[LedgerEndLine, Tag("end")]
    | Annotated[UnknownLedgerLine, Tag("")],
    Discriminator(tag_of(
        "type",
        "head",
        "entry",
        "leaf",
        "checkpoint",
        "end",
    )),
]
