# Written by `npm run clients` from the routes of the service: change those.
"""Objects inside the arguments of methods."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, Union

from typing_extensions import NotRequired, TypeAlias, TypedDict

from . import literals

class AndroidEvidenceParam(TypedDict):
    format: Literal["android-key"]
    challenge: str
    """Ours, unused, in its time."""
    chain: Sequence[str]
    """DER in base64: the key’s certificate first, the root last, as the key store answers them."""


class AppleEvidenceParam(TypedDict):
    format: Literal["apple-appattest"]
    challenge: str
    """Ours, unused, in its time."""
    object: str
    """The attestation object, for SHA-256(SubjectPublicKeyInfo || challenge)."""
    app_attest_key_id: NotRequired[str]


class AttributionTargetParam(TypedDict):
    position: NotRequired[int]
    """Of the explained token in the completion: 0 is its first; its length is the token after it. Default: `0`."""
    token: NotRequired[int]
    """Explained at this position; the one that the model said there when absent."""


class BatchLineParam(TypedDict):
    external_id: NotRequired[str]
    """Names this submission: the same content again is the same attestation."""
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
    """Left out where there is no fix. Else lat, lng and accuracy_m are required, mock is not."""
    biometric: NotRequired[BiometricGateParam | None]
    device_id: NotRequired[str]
    session_nonce: NotRequired[str]
    video_manifest: NotRequired[VideoManifestParam]
    attestation: NotRequired[CaptureEvidenceParam]
    """Kept as signed, and not evaluated: evidence belongs to the enrollment of the device (POST /v1/admin/devices)."""


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
    """Required: by how many metres the position may be off, as the system says (68 % of fixes). Above 20,000 it is no
    fix.
    """
    mock: NotRequired[bool]
    """Whether the system says that the position came from a mock provider. Left out: false."""


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
    """Before it was made a score."""
    probe_version: NotRequired[str | None]
    layer: NotRequired[int | None]
    aggregator: NotRequired[str | None]
    n_tokens: NotRequired[int | None]


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


class InlineMediaParam(TypedDict):
    content_type: str
    data: str


class InterventionTargetParam(TypedDict):
    position: NotRequired[int]
    """Of the explained token in the completion: 0 is its first; its length is the token after it. Default: `0`."""


class KillSwitchAgentsParam(TypedDict):
    agents: NotRequired[Sequence[str]]


class KillSwitchDocumentParam(TypedDict):
    mode: literals.KillSwitchMode
    """off: readings are not judged. monitor: they are judged, and nothing is refused. block: a trip, an old reading
    and a missing one are refused. block_and_lock: a trip also locks the session.
    """
    max_age_s: NotRequired[int]
    """An older reading does not count. Default: `300`."""
    families: NotRequired[Sequence[KillSwitchFamilyParam]]
    """Thresholds in place of those of the readings. A family that is not enabled does not count. Default: `[]`."""
    apply_to: NotRequired[KillSwitchAgentsParam]
    """Without `agents`: all agents. Requests that name no agent are always included. Default: `{}`."""
    allow_experimental: NotRequired[bool]
    """Under `block` and `block_and_lock`, count probes too whose card has the status `experimental`. Default: `false`."""
    reading: NotRequired[KillSwitchReadingParam]
    """What a reading has to be before it may allow. Default: `{"models":[],"max_tokens":64}`."""


class KillSwitchFamilyParam(TypedDict):
    family: str
    threshold: float
    enabled: NotRequired[bool]
    """Default: `true`."""


class KillSwitchReadingParam(TypedDict):
    models: NotRequired[Sequence[str]]
    """Only readings of these may allow; the first reads inputs. None: the first of GET /v1/trace/models. Default:
    `[]`.
    """
    max_tokens: NotRequired[int]
    """The length of an input’s completion. One that was cut off below it allows nothing. Default: `64`."""


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
    """Of a member who may decide."""


class NeuronEditParam(TypedDict):
    node_id: str
    """A neuron, as in a manifest: `layer_neuron_position`."""
    factor: NotRequired[float]
    """0 ablates it. Default: `0`."""


class P256PublicKeyParam(TypedDict):
    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: str
    y: str


class PasskeyAssertionParam(TypedDict):
    challenge_id: str
    """Of POST /v1/intent/challenges."""
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
    """Each of the approving people has one of these. Default: all three."""
    ttl_seconds: NotRequired[int]
    """Default: `3600`."""
    require_passkey: NotRequired[bool]
    """Each of them signs the action with a passkey. Default: `false`."""


class PolicyApprovalsParam(TypedDict):
    require_human_session: NotRequired[bool]
    """API keys decide no approvals, only people who are signed in; earlier votes of keys do not count. Default: true
    in live, false in sandbox.
    """
    separation_of_duties: NotRequired[bool]
    """Who asked for the action, and the owner of the agent, can not decide it. Default: true in an account with two or
    more members.
    """


class PolicyCanaryRequirementParam(TypedDict):
    set: str
    families: NotRequired[Sequence[str]]
    """Default: every family of the set."""
    mode: literals.CanaryMode
    max_age_s: NotRequired[int]
    source: NotRequired[Literal["inference"]]
    """Only a traced inference of the agent itself satisfies it, and no `inference_input` that a model read."""


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
    """A transaction amount strictly above requires a hardware-attested device. null: none does. Default: `500`."""


class PolicyDeviceFactsParam(TypedDict):
    id: NotRequired[str]
    """Default: ``."""
    tier: literals.HardwareTier
    enrolled: NotRequired[bool]
    """Default: `true`."""


class PolicyDocumentParam(TypedDict):
    """Its digest covers the names of its members. A name that is not known here is refused."""

    name: NotRequired[str]
    """Default: `default`."""
    default_rules: NotRequired[PolicyDefaultRulesParam]
    """Default: `{}`."""
    approvals: NotRequired[PolicyApprovalsParam]
    require_bindings: NotRequired[bool]
    """Verify has to name the agent session, the device, the audience and the context evidence that the token is bound
    to: what is left out is answered as if it differed. Default: false.
    """
    rules: NotRequired[Sequence[PolicyRuleParam]]
    """Default: `[]`."""


class PolicyFactsParam(TypedDict):
    action_type: NotRequired[str | None]
    action_description: NotRequired[str]
    action_payload: NotRequired[Mapping[str, Any]]
    context: NotRequired[Mapping[str, Any]]
    authorize_context: NotRequired[Mapping[str, Any]]
    """The context that authorize was given, where verify has another."""
    agent: NotRequired[Mapping[str, Any] | None]
    device: NotRequired[PolicyDeviceFactsParam]
    """Default: a device that is not enrolled."""
    session: NotRequired[Mapping[str, Any]]
    mandate: NotRequired[Mapping[str, Any] | None]
    schedule: NotRequired[Mapping[str, Any] | None]
    canary: NotRequired[Mapping[str, Any] | None]
    at: NotRequired[str]
    """Default: now."""
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
    """Without a reading `strict` refuses and `best_effort` does not."""
    webhook: NotRequired[PolicyWebhookRequirementParam]
    approval: NotRequired[PolicyApprovalRequirementParam]
    """That many people approve the action before it may run."""


class PolicyRuleParam(TypedDict):
    id: str
    description: NotRequired[str]
    priority: NotRequired[int]
    """Lower comes first. Default: `100`."""
    enabled: NotRequired[bool]
    """Default: `true`."""
    shadow: NotRequired[bool]
    """Evaluated and reported, never deciding. Default: `false`."""
    when: NotRequired[PolicyConditionParam]
    """Default: always."""
    on_missing: NotRequired[Literal["match"]]
    """For deny rules: a missing field counts for the match. Otherwise its comparison is false, and in a deny rule that
    of `ne` and `not_in` true.
    """
    require: PolicyRequirementParam
    reason: NotRequired[str]
    """Answered in place of the code of the requirement, as written."""


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
    """In major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: NotRequired[str]
    period: NotRequired[literals.BudgetPeriod]
    max_count: NotRequired[int]
    """Executions in one period."""


class RequestedMandateBudgetParam(TypedDict):
    limit: float | str
    """In major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: str
    period: literals.BudgetPeriod
    max_count: NotRequired[int]
    """Executions in one period."""


class RequestedMandateConstraintsParam(TypedDict):
    min_amount: NotRequired[float | str]
    """Of one action."""
    max_amount: NotRequired[float | str]
    """Of one action."""
    currency: NotRequired[str]
    action_types: NotRequired[Sequence[str]]
    counterparties: NotRequired[Sequence[str]]
    window: NotRequired[MandateWindowParam]
    """When actions may run, in the mandate's time zone."""


class RequestedMandateHeartbeatParam(TypedDict):
    interval_seconds: int
    """A check-in is missed 60 s after it."""
    reactivation_window_seconds: NotRequired[int]
    """How long after a missed check-in the next one makes the mandate active again. When absent: 86400 in a new
    heartbeat, and as it is in a change.
    """


class RequestedScheduleAmountParam(TypedDict):
    type: literals.ScheduleAmountType
    """`fixed`: exactly this amount. `max`: at most this amount."""
    value: float | str
    """In major units: a number or a decimal string, above 0, with at most 4 decimals."""
    currency: str


class RiskPolicyDocumentParam(TypedDict):
    require_attestation: bool
    """A photo without a signed bundle is noted."""
    require_biometric: bool
    """A capture that no biometric gated is noted."""
    require_gps: bool
    """A capture without a GPS fix is noted."""
    require_session_nonce: NotRequired[bool]
    """A bundle without a nonce raises session_nonce_mismatch, as it always does for video. Default: `false`."""
    thresholds: RiskThresholdsParam
    """From which score on a claim is for review, and from which on it has failed."""
    geofence_m: float
    """How many metres a capture may be away from the loss, less its own accuracy."""


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
    """From this score on a look is recommended."""
    likely: float
    """From this score on it is an advisory factor."""


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
    """The rules whose approval is given. Default: `{}`."""


class SimulatedCanaryAnswerParam(TypedDict):
    tripped: bool
    families: NotRequired[Sequence[str]]
    """Default: `[]`."""
    set: NotRequired[str]
    """Default: ``."""
    source: NotRequired[literals.ReadingSource]
    """client: it can refuse, and satisfies no condition. Default: server."""


class SimulatedWebhookAnswerParam(TypedDict):
    decision: literals.PolicyWebhookDecision
    reason: NotRequired[str]


class StreamReferenceParam(TypedDict):
    capture_session_id: str
    """A capture session: the chunks that were sent to it are the media, and it is closed."""


class VideoManifestChunksParam(TypedDict):
    index: NotRequired[int]
    """From 0."""
    sha256: NotRequired[str]
    bytes: NotRequired[int]
    frames: NotRequired[int]
    first_pts_us: NotRequired[int]
    """Microseconds."""
    last_pts_us: NotRequired[int]
    """The end, exclusive: where the next chunk begins."""
    link: NotRequired[str]


class VideoManifestParam(TypedDict):
    chunk_count: NotRequired[int]
    total_bytes: NotRequired[int]
    duration_us: NotRequired[int]
    codec: NotRequired[str]
    timescale: NotRequired[int]
    """Units of the container’s time in a second."""
    chain_seed: NotRequired[str]
    """The session’s nonce."""
    chunks: NotRequired[Sequence[VideoManifestChunksParam]]
    last_link: NotRequired[str]


class WantedMaskRuleParam(TypedDict):
    layers: NotRequired[Sequence[int]]
    label_pattern: NotRequired[str]
    """RE2, found anywhere in the label."""
    top_influence: NotRequired[int]
    """So many of the most influential neurons."""


AgentPublicKeyParam: TypeAlias = "P256PublicKeyParam | Ed25519PublicKeyParam"


AttestDeviceRequestParam: TypeAlias = "HardwareEvidenceParam"


HardwareEvidenceParam: TypeAlias = "AndroidEvidenceParam | AppleEvidenceParam"


ReadTextParam: TypeAlias = "str | ReadPromptParam | ReadConversationParam"
