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
    """Set on a closed account, whose closure can be undone until then."""
    environments: list[AccountEnvironment]
    limits: PlanLimits
    notices: list[AccountNotice]
    """Notices of this month, oldest first."""
    version: int
    """Counts the changes of name, plan and products. The `ETag` has it."""


class AccountClosure(AnswerModel):
    account_id: str
    closed_at: str | None
    """null: the account is open."""
    closed_by: Actor | None
    erased_after: str | None
    """The closure can be undone until then."""


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
    """Threshold that was reached: 80 % or 100 % of the monthly operations."""
    month: str
    """Month in UTC, such as 2026-11."""
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
    """Counts the changes made by `PATCH`. The `ETag` has it."""


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
    """Current causes. The agent is active when the list is empty, unless it is retired."""
    retired_at: str | None
    """When the agent was retired, which is permanent."""
    retired_by: Actor | None
    retired_reason: str | None
    public_key: AgentPublicKey | None
    public_key_thumbprint: str | None
    """SHA-256 thumbprint of RFC 7638."""
    metadata: dict[str, Any]
    version: int
    """Counts the changes made by `PATCH`. The `ETag` has it."""
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
    """Set with the cause `lock`: clear this lock to lift the suspension."""
    reason: str | None
    suspended_by: Actor
    suspended_at: str


class AndroidHardware(AnswerModel):
    security_level: literals.AndroidSecurityLevel | str
    attestation_version: int | float
    keymint_version: int | float
    provisioning: literals.AndroidProvisioning | str
    """How the vendor’s key was provisioned in the device."""
    boot_state: literals.AndroidBootState | str | None
    device_locked: bool | None
    os_version: int | float | None
    os_patch_level: str | None
    vendor_patch_level: str | None
    boot_patch_level: str | None
    os_patch_age_days: int | float | None
    """Age when the evidence was verified."""
    user_authentication: literals.UserAuthentication | str
    """How the key is unlocked, according to the hardware. `either`: the hardware does not tell which of the two."""
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
    """When the key was revoked. For a rotated key this is the end of its grace period."""
    last_used_at: str | None
    """Last use of the key, exact to a minute."""
    grace_expires_at: str | None
    """Set on a rotated key, which is accepted until then."""
    ip_allow: list[str] | None
    """null: the key is accepted from every address."""
    products: list[literals.Product | str] | None
    """Products whose routes the key may call, within its scopes; null: every product."""
    read_only: bool
    """The key only reads, within its scopes, and changes nothing except the positions of its event consumers."""
    replaced_by_api_key_id: str | None
    """The key that a rotation made."""
    replaces_api_key_id: str | None
    """The key whose rotation made this one."""
    version: int
    """Counts the changes made by `PATCH`. The `ETag` has it."""


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
    """Rules that the approval covers: the first 20 rules in lists, else the first 100. An approval covers a rule of
    the policy while the rule has this hash.
    """
    rules_omitted: int
    """Number of rules that are left out."""
    min_approvals: int
    """Number of distinct people who have to approve."""
    roles: list[literals.ApproverRole | str]
    """Roles that may decide."""
    require_passkey: bool
    separation_of_duties: bool
    """The person who asked for the action, and the owner of the agent, can not decide it."""
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
    order_id: str | None
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
    """How many more people with one of the roles have to approve, while the approval is pending. All entries must be
    met.
    """


class ApprovalAgeClass(AnswerModel):
    from_seconds: int
    to_seconds: int | None
    """End of the class; null: open."""
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
    """The user who decided, also when a key decided on their behalf."""
    via: literals.ApprovalVia | str
    """How they decided. `api_key`: decided through the API on the user’s behalf."""
    decision: literals.ApprovalVote | str
    comment: str | None
    """Reason given with a denial."""
    at: str


class ApprovalDecisionData(AnswerModel):
    by: Actor
    via: literals.ApprovalVia | str
    decision: literals.ApprovalVote | str
    at: str


class ApprovalReport(AnswerModel):
    from_: str = Field(alias="from")
    """Start of the range of the counted approvals."""
    to: str
    """End, exclusive."""
    age_classes: list[ApprovalAgeClass]
    seconds_to_decide: ApprovalSeconds
    """Time that people took to approve or deny."""
    oldest_pending: OldestApproval | None


class ApprovalRequestedData(AnswerModel):
    approval_id: str
    jti: str
    rule_id: str
    order_id: str | None
    """The clinician's order that the action executes."""
    action_description: str | None
    """null for the action of an order, which is personal."""
    payload_preview: dict[str, Any] | None
    """null for the action of an order, which is personal."""
    action_hash: str
    payload_hash: str
    preview_hash: str
    min_approvals: int
    expires_at: str
    approve_url: str


class ApprovalRequestedEvent(AnswerModel):
    event_id: str
    """Id of the event, stable across retries."""
    type: Literal["approval.requested"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ApprovalRequestedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Id of the event, stable across retries."""
    type: Literal["approval.resolved"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ApprovalResolvedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Description of the rule by its author; null in lists. GET /v1/approvals/{id} has it."""


class AskedDisclosure(AnswerModel):
    request_id: str
    status: literals.DisclosureStatus | str
    expires_at: str
    """End of the code; after verification the end of the request; after a grant the end of the grant."""


class Attestation(AnswerModel):
    attestation_id: str
    claim_id: str
    status: literals.WorkStatus | str
    """`succeeded` means that the evaluation ended, whatever the result."""
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
    """Version of the risk policy that judged it; 0: the defaults."""
    result_jws: str | None = None
    """The result, signed: verify it against /.well-known/jwks.json."""
    signing_key_revoked: KeyRevocation | None = None
    """Revocation of the key that signed `result_jws`."""
    failure: AttestationFailure | None
    """Why the evaluation failed; POST …/retry starts it again."""
    erased_at: str | None = None
    """When the media and positions were erased; the signed result stays."""


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
    """Id of the event, stable across retries."""
    type: Literal["attestation.created"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: AttestationCreatedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
    seconds.
    """


class AttestationFailure(AnswerModel):
    code: Literal["evaluation_failed"] | str
    detail: str


class AttributedToken(AnswerModel):
    position: int
    token: int | None
    """Explained token; null: the token that the model said there."""


class AttributionJob(AnswerModel):
    job_id: str
    trace_id: str
    model_version_id: str
    status: literals.WorkStatus | str
    progress: int | float
    """Progress from 0 to 1."""
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
    """`svc` has the additions of this service: hashes, the sum check, verified nodes."""
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
    """`E`, or a whole number; logits have the number after the last layer."""
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
    """End of the time for which the manifest is kept: 30 days, and no longer than its trace."""
    nodes: int
    links: int
    links_found: int | None
    """As many as the thresholds ask for; 200000 are kept at most."""
    sum_check: AttributionSumCheck | None
    """null: the method is approximate."""
    remainder_share: int | float
    """The share of the total effect of all neurons that belongs to unnamed neurons."""
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
    """Origin of the act. Unknown members are null; all are null for an act of the service itself or of an operator."""
    request_id: str | None
    subject_id: str | None
    before: Any | None
    after: Any | None
    """State after the act. For a read: what was read."""


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
    """ES256 token; present it unchanged. null only in a replay after its expiry."""
    jti: str
    expires_at: str
    approval_id: str | None = None
    """Id of the approval that the policy requires. Until people have approved, verify answers `approval_pending`."""
    approval: RequiredApproval | None = None
    bindings: IntentBindings
    preflight: IntentPreflight
    """What verify would answer now. The check consumes nothing, and a later verify may answer differently."""


class BatchSummary(AnswerModel):
    batch_id: str
    status: literals.WorkStatus | str
    """`cancelled`: the batch was cancelled, and all started lines have ended."""
    failure: None
    """A line that fails says why in its own attestation."""
    accepted: int
    counts: WorkCounts
    """Accepted lines by status; their sum is `accepted`."""
    rejected_count: int
    repeated_count: int
    """Accepted lines that were submitted before: they return the same attestation."""
    created_at: str
    cancelled_at: str | None


class Batch(BatchSummary):
    settled: int
    """Lines that have ended: succeeded, failed or cancelled. At `accepted`, the batch is done."""
    risk_histogram: RiskHistogram
    rate_per_second: int | float | None
    """Evaluations per second in the last half minute; null when there were none."""
    estimated_finish_at: str | None


class BatchResult(Attestation):
    line: int
    cursor: str
    """Cursor that resumes after this line."""
    is_repeat: bool


class BatchResultsEnd(AnswerModel):
    object: Literal["cursor"] | str
    next_cursor: str | None
    """Cursor that continues with the first line that had not ended; null when all lines have ended."""
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
    """Runtime that computed the readings, as in their hash; null where a client sent them."""
    tripped_families: list[str]


class CanaryCheck(AnswerModel):
    allowed: bool
    """Continue only when this is true."""
    action: literals.CheckAction | str
    reason: literals.CheckReason | str | None
    """Finding of the check. Under `monitor` the session may continue nevertheless."""
    unavailable_cause: literals.UnavailableCause | str | None
    """Why a model of the service has no reading of `inference_input`."""
    stale: bool
    """The reading is older than `max_age_s`."""
    reading_age_s: int | float | None
    mode: literals.KillSwitchMode | str
    """`off` also for an agent that `apply_to` leaves out."""
    tripped_families: list[str]
    uncounted_families: list[str]
    """Families that tripped and do not count, because their probes are experimental. `allow_experimental` counts them."""
    lock_id: str | None
    """Id of the lock in force."""
    decision_id: str
    """Id of the entry in the decision ledger."""
    trace_id: str | None
    canary_hash: str | None
    runtime: str | None
    """Runtime that computed the readings, as in their hash; null where a client sent them."""


class CanaryProbe(AnswerModel):
    family: str
    kind: literals.ProbeKind | str
    layer: int | None
    threshold: int | float
    status: literals.ProbeStatus | str
    """experimental: the probe misses the bar of its family, failed a control, or trips on benign completions of the
    model itself.
    """
    held_out: HeldOutFigures
    """Measurements on completions that a script wrote."""
    generated: GeneratedRuns | None
    """Measurements on benign completions of the model itself; null: not measured."""
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
    """`tripped` compares the score with this threshold. The kill switch may set another threshold."""

    raw: int | float | None
    probe_version: str | None
    layer: int | None
    aggregator: str | None
    n_tokens: int | None
    probe_status: literals.ProbeStatus | str | None = None
    """Status in the card of the probe. Absent from readings that a client sent."""


class CancelledBatch(Batch):
    cancelled: int
    """Number of lines that this call cancelled."""


class CappedCount(AnswerModel):
    count: int
    capped: bool
    """true: `count` reached its maximum, and there may be more."""


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
    """Content type of the first chunk."""
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
    """Runs of indices that have arrived."""


class Case(AnswerModel):
    case_id: str
    claim_id: str
    claim_reference: str | None
    risk_status: literals.ClaimRiskStatus | str
    """Risk status of the claim."""
    risk_score: int | None
    """Risk score of the claim."""
    status: literals.CaseStatus | str
    reason_code: literals.CaseReason | str | None
    """Reason of the last transition."""
    assignee: str | None
    """The `user_id` of a member, or the label that an API key gave."""
    assignee_label: str | None
    """The e-mail address of the member, or the label."""
    priority: literals.CasePriority | str
    due_at: str | None
    """Due date of the review while the case is open, then of the decision; null once the case is closed."""
    overdue: bool
    sla: CaseSla
    fraud_suspected_by: Actor | None
    """First person who named suspected_fraud. With four eyes, another person must deny the case for it."""
    allowed: list[CaseOption]
    """Statuses that the case can change to now, for its claim and for the caller."""
    version: int
    """Grows by one with each entry of the history."""
    created_at: str
    updated_at: str
    closed_at: str | None
    claim_changed_at: str | None
    """When the claim of a closed case changed its standing after the closing. null once the case is reopened."""


class CaseChange(AnswerModel):
    field: str
    from_: str | None = Field(alias="from")
    to: str | None


class CaseCounts(AnswerModel):
    object: Literal["case_counts"] | str
    by_status: CaseStatusCounts


class CaseEntry(AnswerModel):
    version: int
    """Version of the case that this entry created."""
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
    """Allowed reason codes: give one of them; empty: give none."""
    needs_note: bool
    """true: a note is required whatever the reason. The reason `other` always needs a note."""
    needs_assignee: bool
    """The case has no assignee: an API key names an assignee; a session that names none assigns its own user."""
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
    """Due date of the decision. While the case is paused: the date if the pause ended now."""
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
    """Id of the event, stable across retries."""
    type: Literal["case.status_changed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: CaseStatusChangedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Change of the logit in the frozen model, less the mean change of these tokens, which changes no probability."""
    measured_change: int | float


class ChangelogVersion(AnswerModel):
    version: str
    """Version such as 1.2.0; `unreleased` for changes that no version has yet."""
    date: str | None
    """Release date; null: not released."""
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
    """Arrival by the server’s clock. A chunk that is sent again keeps the time of its first arrival."""


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
    """The open case of the claim."""
    created_at: str
    updated_at: str
    erased_at: str | None


class ClaimAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """Start of the period that was read."""
    to: str
    """End of the period that was read, exclusive."""
    days: list[ClaimDay]
    """Every day of the period, oldest first."""


class ClaimDay(AnswerModel):
    day: str
    """Day in UTC."""
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
    """Id of the event, stable across retries."""
    type: Literal["claim.escalated"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ClaimEscalatedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Id of the claim, attestation, case or screening that the entry is about."""
    by: Actor | None
    """Who acted, in entries of cases; null in other entries."""
    details: dict[str, Any]
    """Details by kind: the data of the event, the result, or the change of the case. The case has the notes."""


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
    """Id of the event, stable across retries."""
    type: Literal["claim.provenance_updated"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ClaimProvenanceUpdatedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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


class ClinicalFormulary(AnswerModel):
    version: int
    """Version; 0: the defaults, before a change."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    entries: int
    """Number of concepts."""


class ClinicalPolicy(AnswerModel):
    version: int
    """Version; 0: the defaults, before a change."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    document: ClinicalPolicyDocument
    warnings: list[literals.ClinicalPolicyWarning | str]


class ClinicalPolicyDocument(AnswerModel):
    schedules: ClinicalRules
    allow_stale: bool | None = None
    """Orders are authorized although an exclusion list is missing or outdated. Default: `false`."""


class ClinicalPolicyList(AnswerModel):
    object: Literal["list"] | str
    data: list[ClinicalPolicy]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ClinicalRule(AnswerModel):
    deny: bool | None = None
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTier
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRuleOfSixMonths(AnswerModel):
    deny: bool | None = None
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTier
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRuleWithoutRefills(AnswerModel):
    deny: bool | None = None
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTier
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRules(AnswerModel):
    none: ClinicalRule
    I: ClinicalRuleWithoutRefills
    II: ClinicalRuleWithoutRefills
    III: ClinicalRuleOfSixMonths
    IV: ClinicalRuleOfSixMonths
    V: ClinicalRule


class ConfirmedPrescriberFacts(AnswerModel):
    prescriber_id: str
    tier: PrescriberTier
    facts: list[PrescriberFact]


class CreatedApiKey(ApiKey):
    key: str | None = None
    """The raw key: shown now and never again."""
    secret_shown: Literal[False] | int | None = None
    """A replay of the request, without the raw key."""


class TraceShare(AnswerModel):
    share_id: str
    name: str | None
    """Name for people of the account. The holder of the token does not see it."""
    status: literals.ShareStatus | str
    trace_id: str
    job_id: str | None
    """Attribution job whose graph is shared; null: only the readings are shared."""
    model_version_id: str | None
    scope_kind: literals.ShareScope | str
    masked_node_ids: list[str]
    """Neurons that a grant unmasks: masked by this share and by earlier shares of the trace. Without `reveals_prompt`
    a graph shows neurons of the last position alone.
    """
    mask_rule: MaskRule | None
    reveal: list[literals.RevealedPlace | str]
    reveals_prompt: bool
    """Whether single positions of the text are shown, and with them its words."""
    disclosure_mode: literals.DisclosureMode | str
    shown_before: int
    """Number of masked neurons that an earlier view of this trace may have shown."""
    created_by: Actor
    created_at: str
    expires_at: str
    revoked_at: str | None
    revoked_by: Actor | None


class CreatedTraceShare(TraceShare):
    token: str | None = None
    """Token of the share, in this answer only."""
    url: str | None = None
    """Page that shows the share. The token is in the fragment."""
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
    """gone: the endpoint answered 410. failing: it failed for five days. manual: a person or a key disabled it."""
    disabled_at: str | None
    circuit: WebhookCircuit
    last_success_at: str | None
    """Time exact to a minute."""
    created_at: str
    secret_rotated_at: str | None
    previous_secret_expires_at: str | None
    """When the previous secret stops signing; null when there is none."""
    version: int
    """Counts the changes made by `PATCH`. The `ETag` has it."""
    statistics: WebhookEndpointStatistics | None = None
    """Delivery statistics, in the list with `window`."""


class CreatedWebhookEndpoint(WebhookEndpoint):
    signing_secret: str | None = None
    """Shown now and never again."""
    secret_shown: Literal[False] | int | None = None
    """A replay, without the secret."""


class ScheduleCycle(AnswerModel):
    cycle: int
    """Number of the cycle; 1 is the first."""
    opens_at: str
    closes_at: str
    """The cycle can be executed before this time."""


class CurrentScheduleCycle(ScheduleCycle):
    jti: str | None
    """Token that executed the cycle; null: none has."""


class Decision(AnswerModel):
    decision_id: str
    kind: literals.DecisionKind | str
    environment: literals.Environment | str
    at: str
    actor: Actor
    subject_id: str | None
    """Id of the subject of the decision."""
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
    """Entry as the ledger stores it."""
    entry_hash: str
    """SHA-256 of the canonical JSON (RFC 8785) of `entry`."""
    position: int | None
    """Position of the leaf in the log; null for about a second."""


class DecisionAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """Start of the period that was read."""
    to: str
    """End of the period that was read, exclusive."""
    total: int
    counts: list[DecisionCount]
    """Counts by day, oldest first, then by kind and number. Counts of 0 are left out."""


class DecisionCount(AnswerModel):
    day: str
    """Day in UTC."""
    kind: literals.CountedDecisionKind | str
    reason: str | None
    """A reason of verify, or a policy rule’s own reason; null: the action may run."""
    decisions: int


class DecisionEntry(AnswerModel):
    decision_id: str
    kind: literals.DecisionKind | str
    environment: literals.Environment | str
    at: str
    actor: Literal["service"] | str | DecisionEntryActor
    subject_id: str | None
    """Id of the subject of the decision."""
    reason: str | None
    valid: bool | None
    """null: neither a permission nor a refusal."""
    inputs: dict[str, str | None]
    """Hashes and ids of the inputs."""
    matched_rule_id: str | None
    """The rule of the policy that gave the answer."""
    policy_version: int | None
    rule_results: list[PolicyRuleResult]
    """Results of rules that decide and of shadow rules, at most 100 of each: first the rule that gave the answer, then
    rules that refused, then the others.
    """
    rule_results_omitted: int | None = None
    """Number of results that are left out; absent when none is. `replay.rules` of the explanation has the first 1,000."""
    facts_hash: str | None


class DecisionEntryActor(AnswerModel):
    actor_id: str
    """Id of the API key or user."""
    person: str | None
    """The user of a session; with a key, the person whom its caller named."""
    api_key_id: str | None


class DecisionExplanation(AnswerModel):
    decision: Decision
    meaning: str
    """What decisions of this kind record."""
    entry_intact: bool
    """Whether the hash of the entry is correct."""
    facts_status: literals.DecisionFactsStatus | str
    facts: Any | None
    replay: Any | None
    """null: decisions of this kind are not repeated, or the facts are not intact."""
    same_answer: bool | None
    """Whether the facts lead to the recorded answer again."""
    differences: list[str]
    """Members whose value differs."""


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
    """Name of the consumer."""
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
    """Time of the next attempt; later while the circuit of the endpoint is open."""
    delivered_at: str | None
    failed_at: str | None
    attempts: list[DeliveryAttempt]


class DeliveryAnswer(AnswerModel):
    headers: dict[str, str]
    body: str
    """The first 16 KiB of the body: text, or base64 where it is no UTF-8."""
    body_encoding: literals.DeliveryBodyEncoding | str
    is_truncated: bool
    """true: headers, or the rest of the body, were left out."""


class DeliveryAttempt(AnswerModel):
    attempt: int
    started_at: str
    finished_at: str | None
    """End of the attempt; null: it is running, or its process ended before the answer."""
    response_status: int | None
    error: str | None
    error_detail: str | None
    """Detail for people: the address that was refused, the problem of the certificate."""
    duration_ms: int | None
    timing: DeliveryTiming | None


class DeliveryCall(AnswerModel):
    """Request as sent, with its signatures. The body is in the delivery."""

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
    """Time of the next attempt; later while the circuit of the endpoint is open."""
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
    """Time of the DNS lookup; null: the URL names an address."""
    connect_ms: int | None
    """Time to connect; null, like `tls_ms`: an open connection was reused."""
    tls_ms: int | None
    """Time of the TLS handshake."""
    first_byte_ms: int | None
    """Time from the request to the head of the answer."""


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
    """When the certificate expires. From then on the device counts as not enrolled."""
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
    """All devices by their current tier, which takes the list of revoked keys into account."""


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
    """Number of scores of each version in the bins of `psi`: the first bin is from `edges[0]` up to `edges[1]`, and
    the last includes its upper edge. Absent in reports of version 1.
    """
    ks: KolmogorovSmirnov
    shift: MeanShift
    """Shift of the score, target minus base, with the 95 % interval of a bootstrap over prompts."""
    status: DiffProbeStatuses
    """Status in the cards of the probes."""
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
    """An index of at least this value is drift, if the test is significant too."""
    ks_alpha: int | float
    """Level of the test, for all families together (Holm)."""
    psi_warn: int | float
    """An index of at least this value is a warning."""
    mean_shift: int | float
    """A shift is drift where its whole interval is further from 0 than this value."""


class DisclosureRequest(AnswerModel):
    request_id: str
    status: literals.DisclosureStatus | str
    share_id: str
    trace_id: str
    model_version_id: str | None
    scope_kind: literals.ShareScope | str
    masked_node_ids: list[str]
    """Neurons that a grant shows."""
    email: str | None
    """Verified address; null once it is erased, 30 days after the end."""
    purpose: str | None
    created_at: str
    verified_at: str | None
    decided_at: str | None
    decided_by: Actor | None
    """Who decided; the service where the share has the mode `auto`. Revoking the share does not change this value,
    because that decides no request.
    """
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
    """missed: the window has closed. open: the cycle can be executed now, unless the schedule is paused. cancelled:
    the schedule was cancelled before the window closed.
    """
    jti: str | None
    """Token that executed the cycle."""
    amount: str | None
    """Decimal amount of the execution."""
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
    """pending: the picture is not compared yet, or is compared anew because an earlier result came late."""
    not_comparable: str | None
    """Why there is no perceptual hash; identical bytes are found without a hash."""
    earlier: list[DuplicateMatch]
    """Earlier claims with the same or a similar picture, nearest first: ten of each kind."""
    earlier_more: int
    """Number of earlier claims that are not listed."""
    later: list[DuplicateMatch]
    """Claims that showed the picture later and name this attestation, oldest first, ten at most."""


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
    media_id: str
    kind: literals.DuplicateKind | str
    distance_bits: int
    """Differing bits of 64; 0 for identical bytes too."""


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
    """SHA-256 of the prompts’ canonical JSON (RFC 8785), in hexadecimal."""
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
    """Number of stored events after the position."""
    missed: int
    """Number of events after the position that were deleted after 30 days."""
    oldest_unread_created_at: str | None
    created_at: str
    acknowledged_at: str | None
    """When the position was last reported."""
    version: int
    """Counts the reports of its position. The `ETag` has it."""


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
    """Position after which the events were read: send it as `expected_position` of the report."""
    next_after: int
    """`after` of the next request."""
    latest: int
    """The position of the newest event, of any type."""


class EventTypeEntry(AnswerModel):
    type: literals.EventType | str
    summary: str
    products: list[literals.Product | str]
    """Accounts that use any of these products get the event. Empty: every account."""
    is_sent: bool
    """false: this version of the service does not send the type yet; you may already subscribe to it."""
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
    """Id of the subject."""
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


class ExclusionChange(AnswerModel):
    prescriber_id: str
    status_before: literals.ExclusionStatus | str
    status: literals.ExclusionStatus | str
    evidence: list[ExclusionEvidence]
    changed_at: str


class ExclusionChangeList(AnswerModel):
    object: Literal["list"] | str
    data: list[ExclusionChange]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ExclusionEvidence(AnswerModel):
    list: literals.ExclusionListName | str
    row_hash: str
    """SHA-256 of the row, in hexadecimal."""
    list_date: str
    matched_on: literals.ExclusionMatch | str


class ExclusionImport(AnswerModel):
    exclusion_import_id: str
    list: literals.ExclusionListName | str
    kind: literals.ExclusionFileKind | str
    file_name: str | None
    status: literals.WorkStatus | str
    failure: ExclusionImportFailure | None
    sha256: str
    """SHA-256 of the file, in hexadecimal."""
    size: int
    """Bytes of the file."""
    force: bool
    rows: int | None
    """Rows of the list after the import."""
    list_date: str | None
    requested_by: Actor
    created_at: str
    finished_at: str | None


class ExclusionImportFailure(AnswerModel):
    code: literals.ExclusionImportFailureCode | str
    detail: str


class ExclusionImportList(AnswerModel):
    object: Literal["list"] | str
    data: list[ExclusionImport]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ExclusionList(AnswerModel):
    list: literals.ExclusionListName | str
    list_date: str | None
    """Date of the list in force; null: there is none."""
    rows: int | None
    source: literals.ExclusionListSource | str | None
    """operator: the account has no file of its own."""
    exclusion_import_id: str | None
    """Import of the account that put it in force."""
    changed_at: str | None
    is_stale: bool
    """Missing, or older than 45 days (leie) or 7 days (sam)."""


class ExclusionReview(ExclusionEvidence):
    exclusion_review_id: str
    prescriber_id: str
    status: literals.ExclusionReviewStatus | str
    reason: literals.ExclusionReviewReason | str | None
    decided_by: Actor | None
    decided_at: str | None
    created_at: str


class ExclusionReviewList(AnswerModel):
    object: Literal["list"] | str
    data: list[ExclusionReview]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class ExclusionScreening(AnswerModel):
    exclusion_screening_id: str
    cause: literals.ExclusionScreeningCause | str
    """The list that was imported, or prescribers who changed. The comparison is always with both lists."""
    status: literals.WorkStatus | str
    failure: ExclusionScreeningFailure | None
    screened: int
    """Prescribers compared."""
    changed: int
    """Prescribers whose status is another one than before."""
    created_at: str
    finished_at: str | None


class ExclusionScreeningFailure(AnswerModel):
    code: Literal["screening_failed"] | str
    detail: str


class ExclusionScreeningList(AnswerModel):
    object: Literal["list"] | str
    data: list[ExclusionScreening]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


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
    """Model name at that service."""
    exact: Literal[False] | int
    """false: the graph is of a replacement model, and no attribution of this service."""
    graph: dict[str, Any]
    """Graph as received, in the schema of Neuronpedia’s graphs."""


class Factor(AnswerModel):
    """A finding that counts toward the risk score."""

    code: literals.FactorCode | str
    points: int
    evidence: FactorEvidence


class FactorAnalytics(AnswerModel):
    from_: str = Field(alias="from")
    """Start of the period that was read."""
    to: str
    """End of the period that was read, exclusive."""
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
    """Points of the code; null: an advisory code, which never counts."""
    cases: CaseOutcomeCounts
    """Number of ended cases whose claim has the code."""


class FieldError(AnswerModel):
    pointer: str
    """RFC 6901 pointer into the body, `?name` of the query, or the name of a header."""
    code: literals.FieldErrorCode | str
    detail: str
    """Text for people; it may change."""


class FormularyEntry(AnswerModel):
    rxcui: str
    """Concept id of RxNorm."""
    schedule: literals.DrugSchedule | str


class FormularyEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[FormularyEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class FullDelivery(DeliveryLine):
    body: str | None
    """The exact text that is signed and sent; null when the event is deleted."""


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
    """Tier that the evidence proves; hardware_tier also takes the list of revoked keys into account."""
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
    """Revocation by the vendor’s list as last fetched."""

    status: literals.HardwareRevocationStatus | str
    list_fetched_at: str | None
    serial: str | None
    listed_as: str | None
    """Status in the vendor’s list."""


class HeldOutFigures(AnswerModel):
    auc: int | float
    trip_rate: int | float
    false_positive_rate: int | float


class Incident(AnswerModel):
    kind: literals.IncidentKind | str
    decision_id: str
    at: str
    reason: str
    """The act or the refusal, as the ledger names it."""
    subject_id: str | None
    """The order, the prescriber, the import or the review."""
    cause: str | None
    """Why an act was refused or done, such as the code of the refusal."""


class IncidentCounts(AnswerModel):
    failed_signature: int
    excluded_attempt: int
    refused_act: int
    override: int
    tier_change: int
    list_change: int
    policy_change: int


class IncidentReport(AnswerModel):
    day: str
    """Day in UTC."""
    counts: IncidentCounts
    incidents: list[Incident]
    """The first thousand, oldest first."""
    omitted: int
    """How many more there were: the ledger has them."""
    created_at: str


class IncidentReportList(AnswerModel):
    object: Literal["list"] | str
    data: list[IncidentReport]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class Inference(AnswerModel):
    trace_id: str
    model: str
    model_version_id: str
    completion: str | None
    """Completion; null: withheld, see `finish_reason`."""
    tool_calls: list[ModelToolCall] | None = None
    """Calls of tools that a model elsewhere made; `completion_hash` covers them. Absent where there are none."""
    finish_reason: literals.FinishReason | str
    """canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended."""
    usage: TokenUsage
    canary: Canary | None
    """Canary readings; null: the model has no probes. `tripped_families` follows the current thresholds."""
    uncounted_families: list[str]
    """Families that tripped and do not count, because their probes are experimental. `allow_experimental` counts them."""
    mode: literals.KillSwitchMode | str
    """Mode of the kill switch for this agent."""
    lock_id: str | None
    """Id of the lock in force."""
    decision_id: str
    """Id of the entry in the decision ledger."""


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
    order_id: str | None
    order_hash: str | None
    trace_id: str | None
    audience: str | None
    biometric: bool
    """A person confirmed exactly this action with a passkey."""
    policy_version: int
    created_at: str
    expires_at: str
    executed_at: str | None
    outcome: literals.IntentOutcome | str | None
    """Outcome that the executing caller reported."""
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
    order_id: str | None
    order_hash: str | None
    """Content of the order that the token is bound to."""
    biometric: bool
    """A person confirmed exactly this action with a passkey."""
    single_use: bool
    """Value in the request."""
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
    """Id of the event, stable across retries."""
    type: Literal["intent.revoked"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: IntentRevokedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Runtime of the accelerator that computed the result, if one did."""


class Invite(AnswerModel):
    invite_id: str
    email: str
    role: literals.Role | str
    status: literals.InviteStatus | str
    invited_by: Actor
    """User or key that sent the newest mail."""
    created_at: str
    sent_at: str
    """When the newest mail was requested."""
    expires_at: str
    accepted_at: str | None
    user_id: str | None
    """User that became a member by accepting."""
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
    """The key was revoked, because other parties may have had it."""

    revoked_at: str
    doubted_since: str
    """Another holder of the key may have made signatures from this time on."""


class KillSwitch(AnswerModel):
    version: int
    """Version; 0: the defaults, before a change."""
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
    """off: readings are not judged. monitor: readings are judged, and no request is refused. block: a trip, an old
    reading and a missing reading are refused. block_and_lock: a trip also locks the session.
    """
    max_age_s: int | None = None
    """An older reading does not count. Default: `300`."""
    families: list[KillSwitchFamily] | None = None
    """Thresholds that replace the thresholds of readings. A family that is not enabled does not count. Default: `[]`."""
    apply_to: KillSwitchAgents | None = None
    """Agents that the kill switch applies to; all agents when `agents` is absent. Requests that name no agent are
    always included.
    """
    allow_experimental: bool | None = None
    """Under `block` and `block_and_lock`, probes with the status `experimental` count too. Default: `false`."""
    reading: KillSwitchReading | None = None
    """Conditions for a reading that may allow. Default: `{"models":[],"max_tokens":64}`."""


class KillSwitchFamily(AnswerModel):
    family: str
    threshold: int | float
    enabled: bool | None = None
    """Default: `true`."""


class KillSwitchPreview(AnswerModel):
    from_: str = Field(alias="from")
    to: str
    complete: bool
    """false: there were more than 5,000 checks or inferences, and the ones before `from` are left out."""
    looked: PreviewedRequests
    """Checks and inferences that were re-evaluated by this document."""
    refused: PreviewedRequests
    """Checks that would have been refused, and inferences that would have been withheld."""
    reasons: list[PreviewedReason]
    tripped_traces: int
    """Traces with a family that trips and counts."""
    locks: int
    """Sessions and agents that would have been locked."""
    held_by_locks: int
    """Requests of those sessions and agents after the lock, which would have been refused until a person cleared it."""
    families: list[PreviewedFamily]
    agents: list[PreviewedAgent]
    """Agents with a refusal, most refusals first; at most 100."""


class KillSwitchReading(AnswerModel):
    models: list[str] | None = None
    """Only readings of these models may allow; the first model reads inputs. Empty: the first of GET /v1/trace/models.
    Default: `[]`.
    """
    max_tokens: int | None = None
    """Most tokens of an input’s completion. A completion that is cut off earlier allows nothing. Default: `64`."""


class KolmogorovSmirnov(AnswerModel):
    statistic: int | float
    p: int | float
    p_holm: int | float
    """p value adjusted for the number of families (Holm)."""
    method: literals.KolmogorovSmirnovMethod | str


class LastVerification(AnswerModel):
    decision_id: str
    at: str
    valid: bool
    """true: the last verification only checked, without executing."""
    reason: str | None


class LedgerCheck(AnswerModel):
    valid: bool
    """true: this part has no findings."""
    size: int
    """Number of leaves of the log."""
    from_: int = Field(alias="from")
    to: int
    next: int | None
    """`from` of the next part; null after the last."""
    leaves: int
    """Number of checked leaves."""
    entries_gone: int
    """Number of leaves whose entries were deleted at the end of their retention."""
    checkpoints: int
    """Number of checked checkpoints."""
    problems: list[LedgerProblem]
    has_more_problems: bool


class LedgerCheckpoint(AnswerModel):
    size: int
    """Number of leaves that it covers."""
    root: str
    """SHA-256, base64url without padding."""
    at: str
    jws: str
    """JWS by a record key; `typ` is `ledger-checkpoint+jwt`."""


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
    """Proof of RFC 6962 2.1.2."""


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
    """SHA-256 of 0x00 and `entry_hash`."""
    position: int
    size: int
    root: str
    """SHA-256, base64url without padding."""
    proof: list[str]
    """Proof of RFC 6962 2.1.1, from the neighbour of the leaf to the top."""
    checkpoint: LedgerCheckpoint | None
    """Checkpoint of exactly this size; null: there is none."""


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
    """Ancestors, root first."""
    status: literals.MandateStatus | str
    """Status with the ancestors: the worst status of any ancestor applies to all descendants."""
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
    """Remainder of the budgets of the mandate and of all ancestors; null without any budget."""
    not_before: str | None
    instruments: list[str] | None
    """Payment instruments; null: any."""
    expires_at: str
    heartbeat: MandateHeartbeat | None
    revoked_at: str | None
    revoked_by: Actor | None
    revoked_reason: str | None
    version: int
    """Counts the changes made by `PATCH`. The `ETag` has it."""
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
    """Date on which the next period begins; null for a total."""
    spent: str
    """A decimal number."""
    remaining: str
    """A decimal number."""
    max_count: int | None
    """Most executions in one period; null: any number."""
    count: int
    """Executions in the current period, except executions that were given back."""


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
    """Days with a charge, oldest first."""


class MandateDetail(AnswerModel):
    """Set with a reason of the mandate: the limit that refuses."""

    constraint: literals.MandateConstraintName | str
    expected: Any
    """Limit in the mandate."""
    actual: Any
    """Value in the action; null: absent or not readable."""
    remaining: str | None = None
    """Set with `budget`: the remainder of the budget."""
    mandate_id: str
    """The level that refuses: the mandate or one of its ancestors."""


class MandateHeartbeat(AnswerModel):
    interval_seconds: int
    reactivation_window_seconds: int
    last_check_in_at: str
    next_check_in_by: str
    """Deadline of the next check-in; after it the mandate is suspended."""
    lapses_at: str
    """Deadline of the last possible check-in; after it the mandate stays lapsed."""


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
    """Start of the budget’s period; null where the mandate has no budget."""
    currency: str | None
    executions: int
    charged: str
    """Exact decimal number."""
    released: str
    """Amount given back because the action failed or did not run."""
    spent: str
    """`charged` less `released`."""


class MandateSpendDay(AnswerModel):
    date: str
    """Day in UTC."""
    currency: str
    executions: int
    """Number of executions, except executions that were given back."""
    committed: str
    """Amount charged for actions that succeeded, or whose outcome can not be reported any more."""
    reserved: str
    """Amount charged for actions whose outcome was not reported yet."""
    released: str
    """Amount given back because the action failed or did not run."""


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
    """Weekdays of ISO 8601: 1 is Monday. Every day when absent."""
    from_: str | None = Field(default=None, alias="from")
    """Start, inclusive."""
    to: str | None = None
    """End, exclusive, and after `from`."""


class MaskRule(AnswerModel):
    layers: list[int] | None = None
    label_pattern: str | None = None
    """RE2 pattern, which matches anywhere in the label."""
    top_influence: int | None = None
    """Number of the most influential neurons to mask."""


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
    """Claims whose captures show the media, newest first."""
    has_more_claims: bool
    """true: more than 100 claims show the media."""


class MissingApprovals(AnswerModel):
    roles: list[literals.ApproverRole | str]
    approvals: int


class Model(AnswerModel):
    model: str
    default: bool
    """true: requests that name no model use this model."""
    embedded: bool
    """true: the model comes with the service."""
    backend: literals.ModelBackend | str
    usable: bool
    """false: the file can not be loaded."""
    capabilities: ModelCapabilities
    version: ModelVersion | None
    probe_set: CanaryProbeSet | None


class ModelCapabilities(AnswerModel):
    generate: bool
    activations: bool
    """true: the logit lens and other internals are available."""
    attribution: literals.AttributionCapability | str
    canary: literals.CanaryCapability | str
    """none: `canary_set` is refused."""
    intervene: bool
    deterministic: bool
    """true: the same request gives the same tokens and readings."""


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
    """Arguments as the model wrote them."""


class ModelVersion(AnswerModel):
    model_version_id: str
    sha256: str
    architecture: str
    layers: int
    width: int
    mlp: int
    """Number of neurons of each layer."""
    vocabulary: int
    context_tokens: int
    """Longest text in tokens, prompt and completion together."""
    chat: bool
    """true: the model takes `messages`; false: `prompt` only."""


class MonthUse(AnswerModel):
    month: str
    """Month in UTC, such as 2026-11."""
    environment: Literal["live"] | str
    """The sandbox is not metered."""
    resets_at: str
    """When the next month begins."""
    used: int
    """Operations of the month; negative when more were given back than counted."""
    cap: int | None
    """Cap of the current plan; null for a month that has ended."""
    is_hard_cap: bool | None
    remaining: int | None
    percent: int | float | None


class NextTokenDivergence(AnswerModel):
    mean: int | float | None
    tokens: int
    unit: Literal["nats"] | str
    undefined_because: str | None


class Observation(AnswerModel):
    """A further observation beside the factors."""

    code: str
    evidence: FactorEvidence


class OfferedPlan(AnswerModel):
    plan: literals.Plan | str
    limits: PlanLimits
    change: literals.PlanChange | str
    """Who can change to this plan: the owner to a smaller plan, the operator of the service to a larger plan."""


class OldestApproval(AnswerModel):
    approval_id: str
    asked_at: str


class OperationUse(AnswerModel):
    operation: literals.MeteredOperation | str
    units: int
    """Operations of the month; negative when more were given back than counted."""
    days: list[UsageDay]


class Order(AnswerModel):
    order_id: str
    status: literals.OrderStatus | str
    version: int
    """Counts all changes. The `ETag` has it."""
    revision: int
    """Counts edits, each of which voids the signatures."""
    order_hash: str
    """SHA-256 in base64url of the canonical JSON of what is signed: see the guide Clinician orders."""
    hash_version: Literal[1] | int
    prescriber_id: str
    prescriber_npi: str
    patient_ref: str
    encounter_ref: str | None
    medication: OrderedMedication
    schedule: literals.DrugSchedule | str
    """The strictest of what was asked for, the formulary and the table."""
    schedule_source: literals.ScheduleSource | str
    """Which of the three decided."""
    schedule_substance: str | None
    """Substance of 21 CFR 1308 that was found, if the table decided."""
    schedule_requested: literals.DrugSchedule | str
    quantity: OrderedQuantity
    refills: int
    sig: str
    us_state: literals.UsState | str | None
    action_payload: dict[str, Any] | None
    resource: str | None
    """Text of the FHIR resource as it came; null for an order in JSON."""
    resource_hash: str | None
    """SHA-256 in base64url of that text."""
    needs: OrderNeeds
    allowed_acts: list[literals.OrderAct | str]
    """What is possible in this status."""
    warnings: list[literals.OrderWarning | str]
    """Exclusion lists that are missing or outdated."""
    signatures: list[OrderSignature]
    """Also those that an edit voided."""
    authorized_at: str | None
    expires_at: str
    ended_at: str | None
    """When it was executed, declined or cancelled."""
    ended_by: Actor | None
    ended_reason: literals.OrderEndReason | str | None
    decision_id: str | None
    """Decision that executed it."""
    created_by: Actor
    created_at: str
    updated_at: str


class PasskeyChallenge(AnswerModel):
    challenge_id: str
    challenge: str
    """base64url of SHA-256 of the canonical JSON of action_hash, payload_hash, agent_session_id, device_id and a
    nonce.
    """
    expires_at: str
    options: PasskeyRequestOptions
    """Options for PublicKeyCredential.parseRequestOptionsFromJSON, and then navigator.credentials.get."""


class OrderChallenge(PasskeyChallenge):
    act: literals.SignatureAct | str
    order_hash: str
    """What is signed: compare it with the hash of what you show."""
    statement: SigningStatement
    prescriber: OrderPrescriber
    order: Order


class OrderList(AnswerModel):
    object: Literal["list"] | str
    data: list[Order]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class OrderNeeds(AnswerModel):
    """The rule that the clinical policy has now for the schedule of the order."""

    deny: bool
    tier: PrescriberTier
    passkey: bool
    cosign: bool
    max_refills: int
    validity_days: int | None


class OrderPrescriber(AnswerModel):
    """Name and registrations of the prescriber, which the signer has to see."""

    first: str
    last: str
    npi: str
    dea_numbers: list[str]


class OrderSignature(AnswerModel):
    act: literals.SignatureAct | str
    revision: int
    """Edit of the order that was signed."""
    order_hash: str
    prescriber_id: str
    """Who signed."""
    signed_by: Actor
    method: literals.SignatureMethod | str
    """session: the signed-in person confirmed, where the policy asks for no passkey."""
    passkey_id: str | None
    statement_version: str
    """Version of the statement that the signer saw."""
    signed_at: str
    voided_at: str | None
    """When an edit voided it."""


class OrderedMedication(AnswerModel):
    rxnorm: str | None
    name: str


class OrderedQuantity(AnswerModel):
    value: str
    """Decimal with the digits that were sent."""
    unit: str | None


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
    """Parts that are null, because the caller may not read their rows."""


class OverviewAgents(AnswerModel):
    suspended: CappedCount
    """Agents that a person or a key suspended."""
    held_by_lock: CappedCount


class OverviewApprovals(AnswerModel):
    awaiting: CappedCount
    """For a user: number of approvals that `GET /v1/approvals?awaiting=me` lists. For a key: pending approvals."""


class OverviewBatchWork(AnswerModel):
    running_batches: CappedCount
    """Batches with a line that waits or runs, among the first thousand lines of each."""
    failed_jobs: CappedCount
    """Jobs that ended without a result. A retry continues them."""


class OverviewCases(AnswerModel):
    unassigned: CappedCount
    """Open cases without an assignee."""
    mine: CappedCount | None
    """Open cases of the caller; null: the caller is a key."""
    overdue: CappedCount
    """Open cases past their due date."""


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
    """Latest notice of this month; null: none yet."""


class OverviewWebhooks(AnswerModel):
    failing_endpoints: CappedCount
    """Enabled endpoints whose deliveries wait because the last ones failed."""
    disabled_endpoints: CappedCount
    failed_deliveries: CappedCount
    """Deliveries that are not retried automatically."""


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
    """Public key as base64 of DER."""


class PacketAttestationCertificatesChain(AnswerModel):
    der: str
    """Certificate as base64 of DER."""
    subject: str
    issuer: str
    serial: str
    not_before: str
    not_after: str
    fingerprint: str
    """SHA-256, lower-case hex."""


class PacketAttestationCertificates(AnswerModel):
    source: Literal["submission", "device", "none"] | str
    """device: no certificates were sent, and these are the enrolled ones."""
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
    """Revocation of the key that signed `result_jws`."""


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
    """When the media and positions were erased."""
    media: PacketAttestationMedia
    submission: PacketAttestationSubmission
    """Submission as sent; after an erasure, the remaining members."""
    bundle_sha256: str | None
    """base64url SHA-256 of the canonical bundle (RFC 8785), as in the signed result."""
    key: PacketAttestationKey | None
    """The key that checks the bundle’s signature."""
    certificates: PacketAttestationCertificates
    distance: PacketAttestationDistance | None
    """Distance from the position of the bundle to the place of the loss. The claim’s first-stated place or the place
    of this submission counts, whichever is farther.
    """
    result: PacketAttestationResult | None
    found_later: list[Observation]
    """Findings after the result was signed: the same or a similar picture in other claims."""
    earlier_results: list[PacketAttestationEarlierResults]
    """The five newest results that later results replaced, oldest first."""
    failure: str | None


class PacketCase(AnswerModel):
    case_id: str
    claim_id: str
    status: literals.CaseStatus | str
    reason_code: literals.CaseReason | str | None
    """Reason of the last transition."""
    assignee: str | None
    """The `user_id` of a member, or the label that an API key gave."""
    priority: literals.CasePriority | str
    version: int
    """Grows by one with each entry of the history."""
    created_at: str
    updated_at: str
    closed_at: str | None
    fraud_suspected_by: str | None
    """First person who named suspected_fraud."""
    history: list[PacketCaseEntry]
    """Oldest first."""
    history_omitted: int
    """Number of earlier entries that are left out."""


class PacketCaseEntry(AnswerModel):
    version: int
    """Version of the case that this entry created."""
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
    """Who acted. With an API key, the name that the caller stated; with a session, its user; null for the service
    itself.
    """
    api_key_id: str | None
    note_withheld: bool
    """true: there is a note, which a key without the scope escalate does not see."""


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
    """When the certificate expires. From then on the device counts as not enrolled."""
    revoked_at: str | None
    revoke_effective_at: str | None
    revoke_reason: str | None
    spki: str


class PasskeyDescriptor(AnswerModel):
    type: Literal["public-key"] | str
    id: str
    transports: list[str] | None = None


class PasskeyRequestOptions(AnswerModel):
    challenge: str
    rpId: str
    timeout: int
    allowCredentials: list[PasskeyDescriptor]
    """Allowed passkeys; empty: browsers offer the passkeys that they know."""
    userVerification: Literal["required"] | str


class PemCertificate(Certificate):
    pem: str


class PendingDeliveries(AnswerModel):
    count: int
    is_exact: bool
    """false: there are more deliveries than `count`, and there may be older ones."""
    oldest_created_at: str | None


class PingData(AnswerModel):
    webhook_endpoint_id: str


class PingEvent(AnswerModel):
    event_id: str
    """Id of the event, stable across retries."""
    type: Literal["ping"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: PingData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
    seconds.
    """


class PlanLimits(AnswerModel):
    rate_per_second: int | float
    burst: int
    monthly_operations: int
    """Metered operations of the live environment in a month (UTC)."""
    is_hard_cap: bool
    """true: requests beyond the number are refused with `monthly_cap_exceeded`; false: there are notices only."""
    retention_days: int


class PolicyVersion(AnswerModel):
    version: int
    """Version; 0: the defaults, before a change."""
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
    """The effect of `default_rules`, written as rules."""


class PolicyAnalysis(AnswerModel):
    findings: list[PolicyFinding]
    complete: bool
    """false: there are more than 500 findings, or too many cases of rules to compare all."""


class PolicyApprovalRequirement(AnswerModel):
    min_approvals: int | None = None
    """Default: `1`."""
    roles: list[literals.ApproverRole | str] | None = None
    """Roles; each approving person has one of them. Default: all three."""
    ttl_seconds: int | None = None
    """Default: `3600`."""
    require_passkey: bool | None = None
    """Each approving person signs the action with a passkey. Default: `false`."""


class PolicyApprovals(AnswerModel):
    require_human_session: bool | None = None
    """Only signed-in people decide approvals, and API keys do not; earlier votes of keys do not count. Default: true
    in live, false in sandbox.
    """
    separation_of_duties: bool | None = None
    """The person who asked for the action, and the owner of the agent, can not decide it. Default: true in an account
    with two or more members.
    """


class PolicyCanaryRequirement(AnswerModel):
    set: str
    families: list[str] | None = None
    """Families to read. Default: every family of the set."""
    mode: literals.CanaryMode | str
    max_age_s: int | None = None
    source: Literal["inference"] | str | None = None
    """Only a traced inference of the agent itself satisfies the condition; an `inference_input` does not."""


class PolicyCondition(AnswerModel):
    all: list[PolicyCondition] | PolicyQuantifier | None = None
    """A list holds when every condition holds. An object holds when every element of a list meets its condition. An
    empty list always holds.
    """
    any: list[PolicyCondition] | PolicyQuantifier | None = None
    """A list holds when any condition holds. An object holds when any element of a list meets its condition. An empty
    list never holds.
    """
    not_: PolicyCondition | None = Field(default=None, alias="not")
    field: str | None = None
    """Field to compare, such as `context.transaction_amount`. A name that does not exist is refused."""
    op: literals.PolicyOperator | str | None = None
    value: str | int | float | bool | list[str | int | float | bool] | None = None
    timezone: str | None = None
    """IANA zone of `time.hour` and `time.weekday`. Default: UTC."""


class PolicyDefaultRules(AnswerModel):
    biometric_flag: bool | None = None
    """`context.require_biometric` requires a token that is bound to a biometric. Default: `true`."""
    hardware_above: int | float | str | None = None
    """A transaction amount strictly above this value requires a hardware-attested device. null: no amount does.
    Default: `500`.
    """


class PolicyDocument(AnswerModel):
    """The digest covers the names of the members. An unknown name is refused."""

    name: str | None = None
    """Default: `default`."""
    default_rules: PolicyDefaultRules | None = None
    """Default: `{}`."""
    approvals: PolicyApprovals | None = None
    require_bindings: bool | None = None
    """Verify has to name the agent session, the device, the audience and the context evidence that the token is bound
    to: an absent binding is answered as if it differed. Default: false.
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
    """Field with the list, such as `action_payload.items`. A value of another type is an error."""
    as_: str = Field(alias="as")
    """Name of an element in the fields of `when`: with `item`, the fields are `item` itself and `item.sku`."""
    when: PolicyCondition
    """Condition that the element must meet. It may use fields of the policy too."""


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
    """Number of decisions that this page has examined, oldest first."""
    looked_to: str | None
    """Time of the last examined decision."""
    would_change: int
    """Number of decisions that would change: all are in `data`."""
    unaffected: int
    """Decisions that were refused before the policy was evaluated, or while the account was stopped."""
    unknown: int
    """Decisions without a result: the document needs an answer that was not requested at that time, or no facts were
    recorded.
    """
    rules: list[ReplayedRule]
    """Decisions that each rule refused, and would refuse under the document in the request."""


class PolicyRequirement(AnswerModel):
    deny: Literal[True] | int | None = None
    biometric: Literal[True] | int | None = None
    """The token is bound to a biometric."""
    hardware: Literal[True] | int | None = None
    """The device is hardware-attested: its tier is tee or higher."""
    min_tier: literals.HardwareTier | str | None = None
    canary: PolicyCanaryRequirement | None = None
    """Requires a canary reading. Without a reading, `strict` refuses and `best_effort` does not."""
    webhook: PolicyWebhookRequirement | None = None
    approval: PolicyApprovalRequirement | None = None
    """Requires that people approve the action before it may run."""


class PolicyRule(AnswerModel):
    id: str
    description: str | None = None
    priority: int | None = None
    """Priority; the lower number comes first. Default: `100`."""
    enabled: bool | None = None
    """Default: `true`."""
    shadow: bool | None = None
    """true: the rule is evaluated and reported, and never decides. Default: `false`."""
    when: PolicyCondition | None = None
    """Condition of the rule. Default: always."""
    on_missing: Literal["match"] | str | None = None
    """For deny rules: a missing field counts as a match. When absent, a comparison with a missing field is false; in a
    deny rule, `ne` and `not_in` are true.
    """
    require: PolicyRequirement
    reason: str | None = None
    """Reason that is answered in place of the code of the requirement."""


class PolicyRuleResult(AnswerModel):
    rule_id: str
    effect: literals.PolicyEffect | str
    matched: bool
    met: bool
    shadow: bool
    error: str | None = None
    """The condition met a value of the wrong type, or names no field: the rule counts as matched and unmet."""
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
    """Number of decisions that this page has examined, oldest first."""
    looked_to: str | None
    """Time of the last examined decision."""


class PolicySimulation(AnswerModel):
    policy_version: int | None
    """Version of the policy; null: the document in the request."""
    would_be_valid: bool
    reason: str | None
    """Reason of the first refusal; policy_webhook_pending where the result waits for a webhook."""
    matched_rule_id: str | None
    refusals: list[PolicyRefusal]
    """Refusals in the published order."""
    results: list[PolicyRuleResult]
    """Results of every enabled rule, by priority and id."""
    shadow: list[PolicyRuleResult]
    needs: list[PolicyNeed]
    """Questions that verify would ask before it answers."""


class PolicyValidation(AnswerModel):
    valid: bool
    errors: list[FieldError]
    findings: list[PolicyFinding]
    """Deny rules of a valid document that a missing field turns off. `analyze` finds these and more."""


class PolicyVersionSummary(PolicyVersion):
    name: str
    rules: int
    """Number of rules."""


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
    """Time of the last rotation; null: there is no secret yet, and webhook rules deny."""
    rotated_by: Actor | None
    previous_expires_at: str | None
    """When the previous secret stops signing; null when there is none."""


class Position(AnswerModel):
    lat: int | float
    lng: int | float


class Prescriber(AnswerModel):
    prescriber_id: str
    user_id: str
    npi: str
    first: str
    last: str
    dob: str | None
    tier: PrescriberTier
    """Tier at this moment: facts, their expiry, a suspension and the passkeys of the user decide."""
    suspended_at: str | None
    suspended_by: Actor | None
    suspended_reason: literals.SuspensionReason | str | None
    version: int
    """Counts the changes made by `PATCH`. The `ETag` has it."""
    created_by: Actor
    created_at: str
    updated_at: str


class PrescriberFact(AnswerModel):
    fact_id: str
    prescriber_id: str
    kind: literals.PrescriberFactKind | str
    status: literals.PrescriberFactStatus | str
    """entered counts for tiers 1 and 2; confirmed for tier 3 too; expired and ended for none."""
    method: literals.IdentityMethod | str | None
    """Set for the kind identity."""
    us_state: literals.UsState | str | None
    """Set for the kind licence."""
    number: str | None
    schedules: list[literals.ControlledSchedule | str] | None
    """Set for the kind dea."""
    expires_at: str | None
    warnings: list[literals.PrescriberFactWarning | str]
    entered_by: Actor
    entered_at: str
    confirmed_by: Actor | None
    confirmed_at: str | None
    ended_by: Actor | None
    ended_at: str | None
    ended_reason: literals.FactEndReason | str | None


class PrescriberFactList(AnswerModel):
    object: Literal["list"] | str
    data: list[PrescriberFact]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class PrescriberList(AnswerModel):
    object: Literal["list"] | str
    data: list[Prescriber]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class PreviewedAgent(AnswerModel):
    agent_id: str | None
    """Agent; null: requests that named no agent."""
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
    """true: the family tripped and does not count, because its probe is experimental."""


class PreviewedReason(AnswerModel):
    reason: literals.CheckReason | str
    refused: int


class PreviewedRequests(AnswerModel):
    checks: int
    inferences: int


class ReasonCode(AnswerModel):
    code: str
    """Code; it never changes its meaning. New codes are added."""
    places: list[literals.ReasonPlace | str]
    """Places where the code appears. verify: the `reason` of a verification; clinician_order: an order of a clinician;
    factor: a risk factor, which adds points; advisory: a finding that never does; case: the reason of a case;
    finish_reason: the end of a completion; ledger: an entry of the decision ledger.
    """
    meaning: str
    points: int | None
    """Points that a factor adds to the risk score; null: none."""
    remedy: str
    """What to do about the code."""


class ReasonCodeList(AnswerModel):
    object: Literal["list"] | str
    data: list[ReasonCode]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RecordedPolicyAnswer(AnswerModel):
    """What verify answered at the time."""

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
    """succeeded: every affected attestation was re-evaluated, or counts as failed."""
    failure: ReevaluationFailure | None
    """Set with `failed`: `attempts_exhausted`. The search ended, and an operator can start it again."""
    searched_at: str | None
    """When all affected attestations were found; null while the search runs and `touched` grows."""
    looked: int
    """Number of attestations examined so far."""
    touched: int
    """Number of attestations that are re-evaluated: the sum of the following five."""
    pending: int
    changed: int
    unchanged: int
    skipped: int
    """Attestations whose facts and media are no longer stored."""
    failed: int
    """Attestations that are not retried automatically: an operator can redrive them."""
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
    """Number from 1: a line of NDJSON as an editor counts it, blank lines included, or an element of an array."""
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
    """Number of the result; 1 is the first."""
    evaluated_at: str
    replaced_at: str
    replaced_for: list[str]
    """Re-evaluations that replaced the result."""
    risk_status: literals.RiskStatus | str
    risk_score: int
    provenance_status: literals.ProvenanceStatus | str
    hardware_tier: literals.HardwareTier | str
    rules_version: str
    policy_version: int | None
    result_jws: str
    signing_key_revoked: KeyRevocation | None = None
    """Revocation of the key that signed `result_jws`."""


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
    """Number of unexpired tokens that the revocation ended."""
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
    """Version; 0: the defaults, before a change."""
    digest: str
    """SHA-256 of the canonical JSON (RFC 8785) of the document, hex."""
    changed_at: str | None
    """null: the defaults."""
    changed_by: Actor | None
    """null: the defaults."""
    document: RiskPolicyDocument


class RiskPolicyDocument(AnswerModel):
    require_attestation: bool
    """true: a photo without a signed bundle is noted."""
    require_biometric: bool
    """true: a capture that no biometric gated is noted."""
    require_gps: bool
    """true: a capture without a GPS fix is noted."""
    require_session_nonce: bool | None = None
    """true: a bundle without a nonce raises session_nonce_mismatch, as it always does for video. Default: `false`."""
    thresholds: RiskThresholds
    """Least score of a claim for review, and least score of a failed claim."""
    geofence_m: int | float
    """Metres that a capture may be away from the loss, less its own accuracy."""


class RiskPolicyDryRun(RejudgedClaimList):
    looked: int
    """Number of claims that this page has examined."""
    would_change: int
    """Number of claims that would change: all are in `data`."""
    unknown: int
    """Number of claims without a result, because they need a new evaluation: older rules judged them, or they have
    very many captures.
    """


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


class RoleEntry(AnswerModel):
    role: literals.Role | str
    permissions: list[RolePermission]


class RoleEntryList(AnswerModel):
    object: Literal["list"] | str
    data: list[RoleEntry]
    has_more: bool
    next_cursor: str | None
    """`cursor` of the next page; null on the last."""
    total_count: int | None = None
    """With `include=total_count`. It counts no further than its maximum."""


class RolePermission(AnswerModel):
    permission: str
    allows: str
    """What a holder may do."""
    environments: list[literals.Environment | str]
    """Environments in which the role has it."""


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
    """Number of used occurrences; with `consume_missed`, missed occurrences are included."""
    remaining: int
    current_cycle: CurrentScheduleCycle | None
    """Current cycle, whose window may have closed; null: the first cycle has not begun."""
    next_cycle: ScheduleCycle | None
    """First cycle that can be executed, now or later, unless the schedule stays paused; null: none."""
    last_execution: ScheduleExecution | None
    created_by: Actor
    created_at: str
    status_changed_by: Actor | None
    """Who last paused, resumed or cancelled the schedule."""
    status_changed_at: str | None


class ScheduleAmount(AnswerModel):
    type: literals.ScheduleAmountType | str
    value: str
    """Decimal amount."""
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
    """Cycles: at most 24, and at most the remaining ones."""


class ScoreBins(AnswerModel):
    edges: list[int | float]
    base: list[int]
    target: list[int]


class Screening(AnswerModel):
    screening_id: str
    status: literals.WorkStatus | str
    failure: ScreeningFailure | None
    """Why there is no score; null when there is a score, or the screening has not ended."""
    claim_id: str | None
    screening_batch_id: str | None
    batch_line: int | None
    media_id: str
    media_sha256: str
    genai_score: int | float | None
    """Score from 0 to 1; null when the detector gave none."""
    deepfake_score: int | float | None
    """Score from 0 to 1; null when the detector gave none."""
    models: list[GeneratorScore]
    """Scores of single generators, highest first."""
    review_recommended: bool | None
    """A score is at or above `review`; null without a score."""
    factors: list[AdvisoryFactor]
    """Advisory factors, which never count toward a risk score."""
    observations: list[Observation]
    """What the file itself declares about how it was made; not a score."""
    detector: ScreeningDetector | None
    """The detector that was asked, and the thresholds of the account at that time."""
    is_cached: bool
    """true: the score is from an earlier screening of the same bytes."""
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
    """Id of the event, stable across retries."""
    type: Literal["screening.completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: ScreeningCompletedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Version; 0: the defaults, before a change."""
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
    """A score of at least this value recommends a review."""
    likely: int | float
    """A score of at least this value is an advisory factor."""


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
    """Title for people: a reference, a name, an address, or the id."""


class SearchResults(AnswerModel):
    data: list[SearchResult]
    """Results, at most five of each type."""
    truncated: bool
    """Types with more results: search for a longer text."""


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
    """Environments that Service-Environment may name: only the sandbox when the link was shown and not mailed."""
    permissions: SessionPermissions
    csrf_token: str
    """Value of the header X-CSRF-Token for every request that changes something."""
    created_at: str
    expires_at: str
    """Latest end of the session."""
    idle_timeout_seconds: int
    """The session ends after this many seconds without a request."""


class SessionLock(AnswerModel):
    lock_id: str
    status: literals.SessionLockStatus | str
    agent_session_id: str | None
    """Locked agent session; null: the agent is locked, whatever the session."""
    agent_id: str | None
    """The registered agent that the lock suspends."""
    trace_id: str | None
    """Trace with the readings that tripped."""
    tripped_families: list[str]
    source: literals.TripSource | str
    """Which request found the trip."""
    jti: str | None
    """Id of the token; set with `verify`."""
    matched_rule_id: str | None
    """Rule of the policy; set with `verify`."""
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
    """Decisions without an answer of the rule’s webhook or canary: shadow rules never ask."""
    errors: int
    divergent: int
    """Number of valid decisions that the rule would have refused."""
    examples: list[str]
    """Some of those decisions."""


class ShareView(AnswerModel):
    view_id: str
    share_id: str
    viewed_at: str
    network: str
    """Address of the viewer, truncated to /24 or /48."""
    request_id: str | None
    """Request of the granted person; null: viewed with the token of the share."""
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
    """Disclosed nodes of the graph."""


class SharedView(AnswerModel):
    share_id: str
    expires_at: str
    trace: TraceReadings
    masked_nodes: int
    """Number of neurons that are masked in this answer."""
    disclosure_mode: literals.DisclosureMode | str
    reveals_prompt: bool
    """false: the graph shows the last position of the text, and all before it as one node for each message."""
    disclosure: SharedDisclosure | None
    """Set with the token of a granted person."""
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


class SigningStatement(AnswerModel):
    version: str
    text: str
    """Show it to the signer (21 CFR 1311.140(a)(3))."""


class Statement(AnswerModel):
    month: str
    """Month in UTC, such as 2026-11."""
    from_: str = Field(alias="from")
    to: str
    """End, exclusive."""
    status: literals.StatementStatus | str
    """A statement no longer changes one hour after its month has ended."""
    operations: list[StatementLine]
    total_units: int
    """Operations of the month; negative when more were given back than counted."""
    payment_processor: str
    """`none`: no payment is collected."""
    payment: StatementPayment | None


class StatementLine(AnswerModel):
    operation: literals.MeteredOperation | str
    units: int
    """Operations of the month; negative when more were given back than counted."""


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
    """Page where a person pays, or sees that the statement was paid."""


class Submission(AnswerModel):
    """Submission as sent: the signature covers the bundle."""

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
    certificates: list[Certificate]
    """What the certificates that were sent say, the device’s own first; without those that can’t be read."""


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
    """Refused lines, later at `GET /v1/claims/batches/{id}/rejected`."""


class SubmittedScreeningBatch(ScreeningBatch):
    rejected: list[RejectedLine]
    """Refused lines, later at `GET /v1/media/screenings/batches/{id}/rejected`."""


class TokenLogit(AnswerModel):
    logit: int | float
    probability: int | float


class TokenUsage(AnswerModel):
    prompt_tokens: int
    completion_tokens: int
    """Number of generated tokens, withheld ones included."""


class TraceReadings(AnswerModel):
    trace_id: str
    source: literals.TraceSource | str
    """client: a caller sent the readings. They can refuse and lock, and allow nothing."""
    model_version_id: str | None
    canary: Canary | None
    """Canary readings; null: no probe read the inference."""
    created_at: str


class Trace(TraceReadings):
    agent_session_id: str | None
    agent_id: str | None
    inference: TracedInference | None
    """Inference of the trace; null: the trace has only readings."""
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
    """Token of a verify; `matched_rule_id` is its rule."""
    matched_rule_id: str | None


class TraceCanaryTrippedEvent(AnswerModel):
    event_id: str
    """Id of the event, stable across retries."""
    type: Literal["trace.canary_tripped"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceCanaryTrippedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Progress in prompts."""
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
    """Id of the event, stable across retries."""
    type: Literal["trace.diff_completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDiffCompletedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Families that have a probe in only one of the models."""
    next_token_kl: NextTokenDivergence
    """Divergence of the target from the base, over the base’s completions."""
    shifted_neurons: list[ShiftedNeuron]
    """Shifted neurons, largest effects first, in standard deviations."""
    runtime: str | None


class TraceDisclosureGrantedData(AnswerModel):
    request_id: str
    scope_kind: literals.ShareScope | str
    trace_id: str
    model_version_id: str | None
    expires_at: str
    decided_by: Actor
    """Who decided; the service where the share has the mode `auto`."""


class TraceDisclosureGrantedEvent(AnswerModel):
    event_id: str
    """Id of the event, stable across retries."""
    type: Literal["trace.disclosure_granted"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDisclosureGrantedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """Id of the event, stable across retries."""
    type: Literal["trace.disclosure_requested"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceDisclosureRequestedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
    seconds.
    """


class TraceJobCompletedData(AnswerModel):
    job_id: str
    trace_id: str
    status: literals.WorkEnd | str
    method: literals.AttributionMethod | str
    model_version_id: str
    backend: literals.ModelBackend | str | None
    """Backend; null: the model no longer exists."""
    manifest_hash: str | None
    failure_code: literals.AttributionJobFailureCode | str | None


class TraceJobCompletedEvent(AnswerModel):
    event_id: str
    """Id of the event, stable across retries."""
    type: Literal["trace.job_completed"]
    created_at: str
    environment: literals.Environment | str
    account_id: str
    data: TraceJobCompletedData
    position: int | None = None
    """Position in the order of events; only the pull API has it. null: the event is new, and gets a position within
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
    """End of the time for which the texts are kept."""


class TracedInference(AnswerModel):
    model: str
    finish_reason: literals.FinishReason | str
    """canary_tripped: the completion is withheld. tool_calls, refusal, content_filter: how a model elsewhere ended."""
    usage: TokenUsage
    max_tokens: int
    temperature: int | float
    seed: int
    """Seed; with the same model version it gives the same completion."""
    prompt_hash: str
    """SHA-256 of the RFC 8785 text of the input as the model got it."""
    completion_hash: str | None
    """SHA-256 of the completion, with its calls of tools; null where it was withheld."""
    text_until: str | None
    """End of the time for which the texts are kept: 30 days, and no longer than the trace. null: only hashes are kept,
    or the texts were erased.
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
    """Readings of the window that ends with this token."""
    token: int | None
    """Token; null where no text is kept."""
    text: str | None
    lens: list[list[LensToken]] | None
    """For each layer, the tokens that the model would say before it; the last entry is after the last layer."""


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
    """Decision of the authorization."""
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
    """Last verification; null: the token was never presented."""


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
    """Day in UTC, such as 2026-11-20."""
    units: int
    """Operations of the month; negative when more were given back than counted."""


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
    """Number of the user’s sessions that ended."""
    invites_revoked: list[str]
    """Pending invites that the user sent and could not send any more; after a removal also those to the address."""
    keys_created: list[str]
    """API keys that the user created, or that such keys created, and that still work: revoke those that only they
    know.
    """


class UserRoleChange(UserRemoval):
    previous_role: literals.Role | str | None
    """Previous role; null where this request changed nothing."""


class VerifyResult(AnswerModel):
    valid: bool
    reason: str | None
    """null when valid; else one of `invalid_token`, `approval_denied`, `approval_expired`, `token_expired`,
    `token_revoked`, `session_canary_locked`, `agent_suspended`, `action_hash_mismatch`, `payload_hash_mismatch`,
    `context_hash_mismatch`, `canary_reading_mismatch`, `token_already_executed`, `mandate_revoked`,
    `mandate_expired`, `mandate_heartbeat_lapsed`, `mandate_constraint_violated`, `mandate_budget_exceeded`,
    `schedule_counterparty_mismatch`, `schedule_amount_exceeded`, `schedule_already_executed`,
    `schedule_occurrences_exhausted`, `schedule_window_missed`, `prescriber_excluded`, `order_declined`,
    `prescriber_tier_insufficient`, `controlled_substance_cosign_required`, `biometric_required`,
    `hardware_required_above_500`, `policy_denied`, `policy_biometric_required`, `policy_hardware_required`,
    `policy_tier_required`, `canary_tripped`, `canary_unavailable`, `policy_webhook_denied`,
    `policy_webhook_unavailable`, `approval_pending`, or a policy rule’s own reason. When several reasons apply, the
    first in this order is answered.
    """
    detail: str
    jti: str | None
    decision_id: str
    evaluated_at: str
    already_executed: bool | None = None
    """true: an earlier verification executed the action; with a single use, a mandate, a schedule or an approval, it
    was by this caller with this Idempotency-Key. Do not run the action again.
    """
    approval_id: str | None = None
    matched_rule_id: str | None = None
    webhook_reason: str | None = None
    unavailable_check: literals.PolicyNeedKind | str | None = None
    """Check that gave no answer, so that its rule refuses; set also where the rule has a reason of its own. webhook:
    the policy webhook; canary: there is no reading of `canary_set`.
    """
    webhook_unavailable_cause: literals.PolicyWebhookUnavailableCause | str | None = None
    """Set with the check `webhook`: why the webhook gave no answer."""
    revoked_scope: literals.RevokedScope | str | None = None
    lock_id: str | None = None
    canary_set: str | None = None
    canary_readings: list[dict[str, Any]] | None = None
    mandate_detail: MandateDetail | None = None
    mandate_remaining: str | None = None
    """Remainder of the budgets of the mandate and its ancestors after this decision; null without a budget."""
    schedule_cycle: int | None = None
    """The current cycle; null before the first."""
    receipt: str | None = None
    """JWS by a record key, where the request asked for it; null when it could not be signed now."""


class WebhookCircuit(AnswerModel):
    """open: after consecutive failures, deliveries are parked and use no attempts. half_open: one delivery is tried."""

    status: literals.WebhookCircuitStatus | str
    opened_at: str | None
    probe_at: str | None
    """When the next delivery is tried."""


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
    """Start of a whole hour."""
    to: str
    attempts: int
    delivered: int
    failed: int
    """Number of attempts without a 2xx."""
    success_rate: int | float | None
    """`delivered` divided by attempts; null without attempts."""
    arrival_ms: DurationQuantiles
    response_ms: DurationQuantiles
    pending: PendingDeliveries


class WebhookRecovery(AnswerModel):
    recovery_id: str
    webhook_endpoint_id: str
    which: literals.RecoveryKind | str
    from_: str = Field(alias="from")
    """Start: the recovery sends deliveries or events created at or after this time."""
    to: str
    """End of the range, exclusive."""
    status: literals.WorkStatus | str
    """cancelled: the endpoint was disabled or deleted meanwhile."""
    failure: RecoveryFailure | None
    examined: int
    """Number of deliveries or events examined so far."""
    sent: int
    """Number of deliveries that are sent again, or for the first time."""
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
"""`type` determines the shape of `data`. New types may be added."""


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


PrescriberTier: TypeAlias = Literal[0] | int | Literal[1] | int | Literal[2] | int | Literal[3] | int
"""0 unverified, 1 identity verified, 2 licensed, 3 registered with the DEA."""
