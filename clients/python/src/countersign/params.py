# Written by `npm run clients` from the routes of the service: change those.
"""Objects inside the arguments of methods."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, Union

from typing_extensions import NotRequired, TypeAlias, TypedDict

from . import literals

class AndroidEvidenceParam(TypedDict):
    format: Literal["android-key"]
    challenge: str
    """A challenge of this service, unused and not expired."""
    chain: Sequence[str]
    """Certificates as DER in base64: the key’s certificate first, the root last, as the key store returns them."""


class AppleEvidenceParam(TypedDict):
    format: Literal["apple-appattest"]
    challenge: str
    """A challenge of this service, unused and not expired."""
    object: str
    """The attestation object, for SHA-256(SubjectPublicKeyInfo || challenge)."""
    app_attest_key_id: NotRequired[str]


class AttributionTargetParam(TypedDict):
    position: NotRequired[int]
    """Position of the explained token in the completion: 0 is the first token; the length of the completion is the
    token after it. Default: `0`.
    """
    token: NotRequired[int]
    """Token to explain at this position; when absent, the token that the model said there."""


class BatchLineParam(TypedDict):
    external_id: NotRequired[str]
    """Name of this submission: sending the same content again returns the same attestation."""
    claim: NotRequired[CaptureClaimParam]
    media_type: literals.MediaType
    bundle: NotRequired[CaptureBundleParam]
    assertion: NotRequired[str]
    certificate_chain: NotRequired[Sequence[str]]
    signature: NotRequired[CaptureSignatureParam]
    media: MediaReferenceParam


class BiometricGateParam(TypedDict):
    gated: bool
    method: NotRequired[literals.BiometricMethod]


class CaptureBundleParam(TypedDict):
    version: Literal[1]
    captured_at: str
    sensor_hash: str
    gps: NotRequired[CapturePositionParam | None]
    """Absent where there is no fix. Otherwise lat, lng and accuracy_m are required, and mock is optional."""
    biometric: NotRequired[BiometricGateParam | None]
    device_id: NotRequired[str]
    session_nonce: NotRequired[str]
    video_manifest: NotRequired[VideoManifestParam]
    attestation: NotRequired[CaptureEvidenceParam]
    """Stored as signed and not evaluated: send evidence with the enrollment of the device (POST /v1/admin/devices)."""


class CaptureClaimParam(TypedDict):
    reference: NotRequired[str]
    """The insurer’s claim number: attestations that share it belong to one claim."""
    loss_location: NotRequired[SentPositionParam]
    """Where the loss happened. The first one of a claim stands for all of its captures."""
    loss_at: NotRequired[str]
    line: NotRequired[str]


class CaptureEvidenceParam(TypedDict):
    format: literals.CaptureEvidenceFormat
    chain: NotRequired[Sequence[str]]
    object: NotRequired[str]


class CapturePositionParam(TypedDict):
    lat: float
    """Degrees north, WGS 84."""
    lng: float
    """Degrees east, WGS 84."""
    accuracy_m: float
    """Required. Accuracy in metres that the system reports (68 % of fixes). A value above 20,000 is no fix."""
    mock: NotRequired[bool]
    """Whether the system says that the position came from a mock provider. false when absent."""


class CaptureSignatureParam(TypedDict):
    alg: Literal["ES256"]
    value: str


class ChatMessageParam(TypedDict):
    role: literals.ChatRole
    content: str


class ClientCanaryReadingParam(TypedDict):
    family: str
    score: float
    threshold: NotRequired[float]
    """Default: `0.5`."""
    raw: NotRequired[float | None]
    """Value before it was converted to a score."""
    probe_version: NotRequired[str | None]
    layer: NotRequired[int | None]
    aggregator: NotRequired[str | None]
    n_tokens: NotRequired[int | None]


class ClinicalPolicyDocumentParam(TypedDict):
    schedules: ClinicalRulesParam
    allow_stale: NotRequired[bool]
    """Orders are authorized although an exclusion list is missing or outdated. Default: `false`."""


class ClinicalRuleParam(TypedDict):
    deny: NotRequired[bool]
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTierParam
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRuleOfSixMonthsParam(TypedDict):
    deny: NotRequired[bool]
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTierParam
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRuleWithoutRefillsParam(TypedDict):
    deny: NotRequired[bool]
    """No order of this schedule is authorized. Default: `false`."""
    tier: PrescriberTierParam
    """Tier that the prescriber, and a co-signer, must have."""
    passkey: bool
    """The prescriber signs with a passkey."""
    cosign: bool
    """A second prescriber has to co-sign."""
    max_refills: int
    validity_days: int | None
    """Days after its authorization during which an order may be executed; null: no limit of its own."""


class ClinicalRulesParam(TypedDict):
    none: ClinicalRuleParam
    I: ClinicalRuleWithoutRefillsParam
    II: ClinicalRuleWithoutRefillsParam
    III: ClinicalRuleOfSixMonthsParam
    IV: ClinicalRuleOfSixMonthsParam
    V: ClinicalRuleParam


class DeaFactRequestParam(TypedDict):
    kind: Literal["dea"]
    number: str
    """DEA registration number of a prescriber."""
    schedules: Sequence[literals.ControlledSchedule]
    """Schedules that the registration covers."""
    expires_at: str


class DeaRegistrationParam(TypedDict):
    number: str
    """DEA registration number of a prescriber."""
    schedules: Sequence[literals.ControlledSchedule]
    """Schedules that the registration covers."""
    expires_at: str


class DeviceEvidenceParam(TypedDict):
    device_id: str
    attestation: HardwareEvidenceParam


class DiffThresholdsRequestParam(TypedDict):
    """Default: `{}`."""

    psi_drift: NotRequired[float]
    ks_alpha: NotRequired[float]
    psi_warn: NotRequired[float]
    mean_shift: NotRequired[float]


class Ed25519PublicKeyParam(TypedDict):
    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str


class EnrollDeviceRequestParam(TypedDict):
    name: NotRequired[str]
    certificate_chain: Sequence[str]
    attestation: NotRequired[HardwareEvidenceParam]
    """Evidence of the key’s hardware."""


class EvalPromptParam(TypedDict):
    messages: Sequence[ChatMessageParam]


class IdentityFactRequestParam(TypedDict):
    kind: Literal["identity"]
    method: literals.IdentityMethod
    expires_at: NotRequired[str]


class InlineMediaParam(TypedDict):
    content_type: str
    data: str


class InterventionTargetParam(TypedDict):
    position: NotRequired[int]
    """Position of the explained token in the completion: 0 is the first token; the length of the completion is the
    token after it. Default: `0`.
    """


class KillSwitchAgentsParam(TypedDict):
    agents: NotRequired[Sequence[str]]


class KillSwitchDocumentParam(TypedDict):
    mode: literals.KillSwitchMode
    """off: readings are not judged. monitor: readings are judged, and no request is refused. block: a trip, an old
    reading and a missing reading are refused. block_and_lock: a trip also locks the session.
    """
    max_age_s: NotRequired[int]
    """An older reading does not count. Default: `300`."""
    families: NotRequired[Sequence[KillSwitchFamilyParam]]
    """Thresholds that replace the thresholds of readings. A family that is not enabled does not count. Default: `[]`."""
    apply_to: NotRequired[KillSwitchAgentsParam]
    """Agents that the kill switch applies to; all agents when `agents` is absent. Requests that name no agent are
    always included.
    """
    allow_experimental: NotRequired[bool]
    """Under `block` and `block_and_lock`, probes with the status `experimental` count too. Default: `false`."""
    reading: NotRequired[KillSwitchReadingParam]
    """Conditions for a reading that may allow. Default: `{"models":[],"max_tokens":64}`."""


class KillSwitchFamilyParam(TypedDict):
    family: str
    threshold: float
    enabled: NotRequired[bool]
    """Default: `true`."""


class KillSwitchReadingParam(TypedDict):
    models: NotRequired[Sequence[str]]
    """Only readings of these models may allow; the first model reads inputs. Empty: the first of GET /v1/trace/models.
    Default: `[]`.
    """
    max_tokens: NotRequired[int]
    """Most tokens of an input’s completion. A completion that is cut off earlier allows nothing. Default: `64`."""


class LicenceFactRequestParam(TypedDict):
    kind: Literal["licence"]
    us_state: literals.UsState
    number: str
    expires_at: str


class MandatePayloadPointersParam(TypedDict):
    amount: NotRequired[str]
    currency: NotRequired[str]
    counterparty: NotRequired[str]
    action_type: NotRequired[str]
    instrument: NotRequired[str]


MandateWindowParam = TypedDict(
    "MandateWindowParam",
    {
        "weekdays": "NotRequired[Sequence[int]]",
        "from": "NotRequired[str]",
        "to": "NotRequired[str]",
    },
)


class MediaAddressParam(TypedDict):
    """Always refused: media are not fetched from addresses."""

    url: str


class MediaReferenceParam(TypedDict):
    media_id: str


class NamedApproverParam(TypedDict):
    email: str
    """Address of a member who may decide."""


class NeuronEditParam(TypedDict):
    node_id: str
    """Id of a neuron, as in a manifest: `layer_neuron_position`."""
    factor: NotRequired[float]
    """Factor of the activation; 0 ablates the neuron. Default: `0`."""


class OrderedMedicationRequestParam(TypedDict):
    rxnorm: NotRequired[str | None]
    """Concept id of RxNorm (RXCUI). Default: `null`."""
    name: str
    schedule: NotRequired[literals.DrugSchedule]
    """Schedule that you know. The formulary and the table of 21 CFR 1308 can only make it stricter. Default: `none`."""


class OrderedQuantityRequestParam(TypedDict):
    value: str
    """Decimal, whose digits are kept as they are."""
    unit: NotRequired[str | None]
    """Default: `null`."""


class P256PublicKeyParam(TypedDict):
    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class PasskeyAssertionParam(TypedDict):
    challenge_id: str
    """Id of a challenge of POST /v1/intent/challenges."""
    response: PasskeyAssertionResponseParam


class PasskeyAssertionDataParam(TypedDict):
    clientDataJSON: str
    authenticatorData: str
    signature: str
    userHandle: NotRequired[str | None]


class PasskeyAssertionResponseParam(TypedDict):
    id: str
    rawId: str
    type: Literal["public-key"]
    authenticatorAttachment: NotRequired[str | None]
    response: PasskeyAssertionDataParam


class PolicyApprovalRequirementParam(TypedDict):
    min_approvals: NotRequired[int]
    """Default: `1`."""
    roles: NotRequired[Sequence[literals.ApproverRole]]
    """Roles; each approving person has one of them. Default: all three."""
    ttl_seconds: NotRequired[int]
    """Default: `3600`."""
    require_passkey: NotRequired[bool]
    """Each approving person signs the action with a passkey. Default: `false`."""


class PolicyApprovalsParam(TypedDict):
    require_human_session: NotRequired[bool]
    """Only signed-in people decide approvals, and API keys do not; earlier votes of keys do not count. Default: true
    in live, false in sandbox.
    """
    separation_of_duties: NotRequired[bool]
    """The person who asked for the action, and the owner of the agent, can not decide it. Default: true in an account
    with two or more members.
    """


class PolicyCanaryRequirementParam(TypedDict):
    set: str
    families: NotRequired[Sequence[str]]
    """Families to read. Default: every family of the set."""
    mode: literals.CanaryMode
    max_age_s: NotRequired[int]
    source: NotRequired[Literal["inference"]]
    """Only a traced inference of the agent itself satisfies the condition; an `inference_input` does not."""


PolicyConditionParam = TypedDict(
    "PolicyConditionParam",
    {
        "all": "NotRequired[Sequence[PolicyConditionParam] | PolicyQuantifierParam]",
        "any": "NotRequired[Sequence[PolicyConditionParam] | PolicyQuantifierParam]",
        "not": "NotRequired[PolicyConditionParam]",
        "field": "NotRequired[str]",
        "op": "NotRequired[literals.PolicyOperator]",
        "value": "NotRequired[str | float | bool | Sequence[str | float | bool]]",
        "timezone": "NotRequired[str]",
    },
)


class PolicyDefaultRulesParam(TypedDict):
    biometric_flag: NotRequired[bool]
    """`context.require_biometric` requires a token that is bound to a biometric. Default: `true`."""
    hardware_above: NotRequired[float | str | None]
    """A transaction amount strictly above this value requires a hardware-attested device. null: no amount does.
    Default: `500`.
    """


class PolicyDeviceFactsParam(TypedDict):
    id: NotRequired[str]
    """Default: ``."""
    tier: literals.HardwareTier
    enrolled: NotRequired[bool]
    """Default: `true`."""


class PolicyDocumentParam(TypedDict):
    """The digest covers the names of the members. An unknown name is refused."""

    name: NotRequired[str]
    """Default: `default`."""
    default_rules: NotRequired[PolicyDefaultRulesParam]
    """Default: `{}`."""
    approvals: NotRequired[PolicyApprovalsParam]
    require_bindings: NotRequired[bool]
    """Verify has to name the agent session, the device, the audience and the context evidence that the token is bound
    to: an absent binding is answered as if it differed. Default: false.
    """
    rules: NotRequired[Sequence[PolicyRuleParam]]
    """Default: `[]`."""


class PolicyFactsParam(TypedDict):
    action_type: NotRequired[str | None]
    action_description: NotRequired[str]
    action_payload: NotRequired[Mapping[str, Any]]
    context: NotRequired[Mapping[str, Any]]
    authorize_context: NotRequired[Mapping[str, Any]]
    """Context of authorize, where verify has another."""
    agent: NotRequired[Mapping[str, Any] | None]
    device: NotRequired[PolicyDeviceFactsParam]
    """Facts about the device. Default: a device that is not enrolled."""
    session: NotRequired[Mapping[str, Any]]
    mandate: NotRequired[Mapping[str, Any] | None]
    schedule: NotRequired[Mapping[str, Any] | None]
    canary: NotRequired[Mapping[str, Any] | None]
    at: NotRequired[str]
    """Time of the decision. Default: now."""
    token: NotRequired[PolicyTokenFactsParam]


PolicyQuantifierParam = TypedDict(
    "PolicyQuantifierParam",
    {
        "in": "str",
        "as": "str",
        "when": "PolicyConditionParam",
    },
)


class PolicyRequirementParam(TypedDict):
    deny: NotRequired[Literal[True]]
    biometric: NotRequired[Literal[True]]
    """The token is bound to a biometric."""
    hardware: NotRequired[Literal[True]]
    """The device is hardware-attested: its tier is tee or higher."""
    min_tier: NotRequired[literals.HardwareTier]
    canary: NotRequired[PolicyCanaryRequirementParam]
    """Requires a canary reading. Without a reading, `strict` refuses and `best_effort` does not."""
    webhook: NotRequired[PolicyWebhookRequirementParam]
    approval: NotRequired[PolicyApprovalRequirementParam]
    """Requires that people approve the action before it may run."""


class PolicyRuleParam(TypedDict):
    id: str
    description: NotRequired[str]
    priority: NotRequired[int]
    """Priority; the lower number comes first. Default: `100`."""
    enabled: NotRequired[bool]
    """Default: `true`."""
    shadow: NotRequired[bool]
    """true: the rule is evaluated and reported, and never decides. Default: `false`."""
    when: NotRequired[PolicyConditionParam]
    """Condition of the rule. Default: always."""
    on_missing: NotRequired[Literal["match"]]
    """For deny rules: a missing field counts as a match. When absent, a comparison with a missing field is false; in a
    deny rule, `ne` and `not_in` are true.
    """
    require: PolicyRequirementParam
    reason: NotRequired[str]
    """Reason that is answered in place of the code of the requirement."""


class PolicyTokenFactsParam(TypedDict):
    biometric: bool


class PolicyWebhookRequirementParam(TypedDict):
    url: str
    timeout_ms: NotRequired[int]
    """Default: `3000`."""


class ReadConversationParam(TypedDict):
    messages: Sequence[ChatMessageParam]


class ReadPromptParam(TypedDict):
    prompt: str


class RepeatedPromptParam(TypedDict):
    prompt: NotRequired[str]
    messages: NotRequired[Sequence[ChatMessageParam]]


class RequestedBudgetChangeParam(TypedDict):
    limit: float | str
    """Limit in major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: NotRequired[str]
    period: NotRequired[literals.BudgetPeriod]
    max_count: NotRequired[int]
    """Most executions in one period."""


class RequestedMandateBudgetParam(TypedDict):
    limit: float | str
    """Limit in major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: str
    period: literals.BudgetPeriod
    max_count: NotRequired[int]
    """Most executions in one period."""


class RequestedMandateConstraintsParam(TypedDict):
    min_amount: NotRequired[float | str]
    """Least amount of one action."""
    max_amount: NotRequired[float | str]
    """Greatest amount of one action."""
    currency: NotRequired[str]
    action_types: NotRequired[Sequence[str]]
    counterparties: NotRequired[Sequence[str]]
    window: NotRequired[MandateWindowParam]
    """Times at which actions may run, in the mandate's time zone."""


class RequestedMandateHeartbeatParam(TypedDict):
    interval_seconds: int
    """Interval of check-ins. A check-in is missed 60 s after the interval."""
    reactivation_window_seconds: NotRequired[int]
    """Seconds after a missed check-in during which a check-in makes the mandate active again. When absent: 86400 in a
    new heartbeat, and as it is in a change.
    """


class RequestedScheduleAmountParam(TypedDict):
    type: literals.ScheduleAmountType
    """`fixed`: exactly this amount. `max`: at most this amount."""
    value: float | str
    """Limit in major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: str


class RiskPolicyDocumentParam(TypedDict):
    require_attestation: bool
    """true: a photo without a signed bundle is noted."""
    require_biometric: bool
    """true: a capture that no biometric gated is noted."""
    require_gps: bool
    """true: a capture without a GPS fix is noted."""
    require_session_nonce: NotRequired[bool]
    """true: a bundle without a nonce raises session_nonce_mismatch, as it always does for video. Default: `false`."""
    thresholds: RiskThresholdsParam
    """Least score of a claim for review, and least score of a failed claim."""
    geofence_m: float
    """Metres that a capture may be away from the loss, less its own accuracy."""


class RiskThresholdsParam(TypedDict):
    review: int
    failed: int


class ScreeningLineParam(TypedDict):
    claim_id: NotRequired[str]
    """A claim that gets the advisory codes of this screening."""
    media_id: str


class ScreeningSettingsDocumentParam(TypedDict):
    thresholds: ScreeningSettingsThresholdsParam


class ScreeningSettingsThresholdParam(TypedDict):
    review: float
    """A score of at least this value recommends a review."""
    likely: float
    """A score of at least this value is an advisory factor."""


class ScreeningSettingsThresholdsParam(TypedDict):
    genai: ScreeningSettingsThresholdParam
    deepfake: ScreeningSettingsThresholdParam


class SentPositionParam(TypedDict):
    lat: float
    """Degrees north, WGS 84."""
    lng: float
    """Degrees east, WGS 84."""


class SimulatedAnswersParam(TypedDict):
    webhooks: NotRequired[Mapping[str, Literal["unavailable"] | SimulatedWebhookAnswerParam]]
    """Default: `{}`."""
    canaries: NotRequired[Mapping[str, Literal["unavailable"] | SimulatedCanaryAnswerParam]]
    """Default: `{}`."""
    approvals: NotRequired[Mapping[str, Literal["covered"]]]
    """Rules whose approval is given. Default: `{}`."""


class SimulatedCanaryAnswerParam(TypedDict):
    tripped: bool
    families: NotRequired[Sequence[str]]
    """Default: `[]`."""
    set: NotRequired[str]
    """Default: ``."""
    source: NotRequired[literals.ReadingSource]
    """client: the reading can refuse, and satisfies no condition. Default: server."""


class SimulatedWebhookAnswerParam(TypedDict):
    decision: literals.PolicyWebhookDecision
    reason: NotRequired[str]


class StateLicenseParam(TypedDict):
    us_state: literals.UsState
    number: str
    expires_at: str


class StreamReferenceParam(TypedDict):
    capture_session_id: str
    """Capture session whose chunks are the media. The submission closes the session."""


class VideoManifestChunksParam(TypedDict):
    index: NotRequired[int]
    """Index from 0."""
    sha256: NotRequired[str]
    bytes: NotRequired[int]
    frames: NotRequired[int]
    first_pts_us: NotRequired[int]
    """Start in microseconds."""
    last_pts_us: NotRequired[int]
    """End in microseconds, exclusive: the next chunk begins there."""
    link: NotRequired[str]


class VideoManifestParam(TypedDict):
    chunk_count: NotRequired[int]
    total_bytes: NotRequired[int]
    duration_us: NotRequired[int]
    codec: NotRequired[str]
    timescale: NotRequired[int]
    """Units of the container’s time per second."""
    chain_seed: NotRequired[str]
    """The session’s nonce."""
    chunks: NotRequired[Sequence[VideoManifestChunksParam]]
    last_link: NotRequired[str]


class WantedMaskRuleParam(TypedDict):
    layers: NotRequired[Sequence[int]]
    label_pattern: NotRequired[str]
    """RE2 pattern, which matches anywhere in the label."""
    top_influence: NotRequired[int]
    """Number of the most influential neurons to mask."""


AgentPublicKeyParam: TypeAlias = "P256PublicKeyParam | Ed25519PublicKeyParam"


AttestDeviceRequestParam: TypeAlias = "HardwareEvidenceParam"


CreatePrescriberFactRequestParam: TypeAlias = "IdentityFactRequestParam | LicenceFactRequestParam | DeaFactRequestParam"


HardwareEvidenceParam: TypeAlias = "AndroidEvidenceParam | AppleEvidenceParam"


PrescriberTierParam: TypeAlias = "Literal[0] | Literal[1] | Literal[2] | Literal[3]"


ReadTextParam: TypeAlias = "str | ReadPromptParam | ReadConversationParam"
