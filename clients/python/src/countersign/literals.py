# Written by `npm run clients` from the routes of the service: change those.
"""Closed lists of values. Answers may have further ones, which a later service added."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypeAlias

AccountNoticeKind: TypeAlias = Literal[
    "usage_80",
    "usage_100",
]

ActorType: TypeAlias = Literal[
    "user",
    "key",
    "agent",
    "operator",
    "service",
    "directory",
]

AdvisoryCode: TypeAlias = Literal[
    "exif_missing",
    "exif_timestamp_mismatch",
    "exif_editor_trace",
    "geofence_mismatch",
    "c2pa_absent",
    "c2pa_invalid",
    "c2pa_present_valid",
    "carrier_policy_attestation_missing",
    "carrier_policy_biometric_missing",
    "carrier_policy_gps_missing",
    "ai_generated_likely",
    "deepfake_likely",
]

AgentSessionStatus: TypeAlias = Literal[
    "open",
    "ended",
]

AgentStatus: TypeAlias = Literal[
    "active",
    "suspended",
    "retired",
]

AndroidBootState: TypeAlias = Literal[
    "verified",
    "self_signed",
    "unverified",
    "failed",
]

AndroidProvisioning: TypeAlias = Literal[
    "factory",
    "remote",
]

AndroidSecurityLevel: TypeAlias = Literal[
    "software",
    "tee",
    "strongbox",
]

AnyFactorCode: TypeAlias = Literal[
    "device_revoked",
    "session_nonce_mismatch",
    "signature_invalid",
    "no_manifest",
    "frame_hash_mismatch",
    "sensor_hash_mismatch",
    "cert_unknown_ca",
    "hardware_backing_absent",
    "liveness_check_failed",
    "video_manifest_incomplete",
    "gps_absent",
    "timestamp_stale",
    "device_not_enrolled",
    "biometric_absent",
    "exif_missing",
    "exif_timestamp_mismatch",
    "exif_editor_trace",
    "geofence_mismatch",
    "c2pa_absent",
    "c2pa_invalid",
    "c2pa_present_valid",
    "carrier_policy_attestation_missing",
    "carrier_policy_biometric_missing",
    "carrier_policy_gps_missing",
    "ai_generated_likely",
    "deepfake_likely",
]

ApiKeyStatus: TypeAlias = Literal[
    "active",
    "rotating",
    "revoked",
    "expired",
]
"""rotating: replaced, and still accepted until grace_expires_at."""

ApiKeyStatusFilter: TypeAlias = Literal[
    "active",
    "rotating",
    "revoked",
    "expired",
    "working",
]
"""working: all keys that are accepted, active or rotating."""

AppAttestEnvironment: TypeAlias = Literal[
    "production",
    "development",
]

ApprovalEnd: TypeAlias = Literal[
    "approved",
    "denied",
    "expired",
    "cancelled",
]

ApprovalOrigin: TypeAlias = Literal[
    "authorize",
    "verify",
]

ApprovalResolution: TypeAlias = Literal[
    "human",
    "timeout",
    "cancelled",
]

ApprovalStatus: TypeAlias = Literal[
    "pending",
    "approved",
    "denied",
    "expired",
    "cancelled",
]

ApprovalVia: TypeAlias = Literal[
    "session",
    "passkey",
    "api_key",
]

ApprovalVote: TypeAlias = Literal[
    "approve",
    "deny",
]

ApproverRole: TypeAlias = Literal[
    "owner",
    "admin",
    "approver",
]

AttributionCapability: TypeAlias = Literal[
    "exact",
    "grad_x_act",
    "ablation",
    "none",
]

AttributionJobFailureCode: TypeAlias = Literal[
    "backend_capability_missing",
    "model_version_not_found",
    "text_not_kept",
    "trace_not_reproducible",
    "attribution_inexact",
    "invalid_request",
    "timeout",
    "internal_error",
]

AttributionMethod: TypeAlias = Literal[
    "exact",
    "grad_x_act",
    "ablation",
]

AuditAction: TypeAlias = Literal[
    "act.refused",
    "account.created",
    "account.renamed",
    "account.suspended",
    "account.unsuspended",
    "account.exported",
    "account.export_read",
    "account.closed",
    "account.reopened",
    "plan.changed",
    "products.changed",
    "key.created",
    "key.changed",
    "key.rotated",
    "key.revoked",
    "user.signed_in",
    "user.signed_out",
    "user.sign_in_refused",
    "sso.configured",
    "sso.domain_verified",
    "sso.domain_ended",
    "sso.removed",
    "sso.login_refused",
    "sso.linked",
    "scim_token.created",
    "scim_token.revoked",
    "login_link.printed",
    "user.invited",
    "invite.resent",
    "invite.revoked",
    "invite.accepted",
    "user.provisioned",
    "user.updated",
    "user.role_changed",
    "user.deprovisioned",
    "passkey.registered",
    "passkey.renamed",
    "passkey.removed",
    "passkey.counter_refused",
    "webhook_endpoint.created",
    "webhook_endpoint.changed",
    "webhook_endpoint.secret_rotated",
    "webhook_endpoint.deleted",
    "webhook_endpoint.recovered",
    "webhook_delivery.redelivered",
    "webhook_deliveries.exported",
    "event_consumer.deleted",
    "policy_webhook_secret.rotated",
    "risk_policy.changed",
    "policy.changed",
    "policy.rolled_back",
    "prescriber.created",
    "prescriber.changed",
    "prescriber.suspended",
    "prescriber.reinstated",
    "prescriber_fact.entered",
    "prescriber_fact.confirmed",
    "prescriber_fact.ended",
    "clinical_policy.changed",
    "clinical_formulary.replaced",
    "order.created",
    "order.edited",
    "order.signed",
    "order.cosigned",
    "order.declined",
    "order.cancelled",
    "order.signature_refused",
    "order.refused",
    "exclusion_list.uploaded",
    "exclusion_review.decided",
    "schedule.created",
    "schedule.paused",
    "schedule.resumed",
    "schedule.cancelled",
    "agent.retired",
    "screening_settings.changed",
    "kill_switch.changed",
    "share.created",
    "share.changed",
    "share.revoked",
    "disclosure.granted",
    "disclosure.denied",
    "disclosure.revoked",
    "device.enrolled",
    "device.renamed",
    "device.revoked",
    "device.evidence_changed",
    "root_ca.added",
    "root_ca.removed",
    "c2pa_anchor.added",
    "c2pa_anchor.removed",
    "claim.erased",
    "media.read",
    "evidence.read",
    "trace_texts.read",
    "trace_texts.erased",
    "decision_facts.read",
    "ledger.exported",
    "audit.exported",
    "signing_key.rotated",
    "signing_key.revoked",
]

BiometricMethod: TypeAlias = Literal[
    "face",
    "fingerprint",
    "passcode",
]

BudgetPeriod: TypeAlias = Literal[
    "total",
    "day",
    "week",
    "month",
    "year",
]

CanaryCapability: TypeAlias = Literal[
    "probe",
    "classifier",
    "none",
]

CanaryMode: TypeAlias = Literal[
    "strict",
    "best_effort",
]

CaptureEvidenceFormat: TypeAlias = Literal[
    "android-key",
    "apple-appattest",
    "none",
]

CaptureSessionStatus: TypeAlias = Literal[
    "open",
    "closed",
]

CaseEntryKind: TypeAlias = Literal[
    "opened",
    "escalated",
    "proposed",
    "transitioned",
    "noted",
    "changed",
]

CaseOrder: TypeAlias = Literal[
    "created",
    "due",
]

CasePriority: TypeAlias = Literal[
    "low",
    "normal",
    "high",
    "urgent",
]

CaseReason: TypeAlias = Literal[
    "provenance_verified",
    "risk_accepted",
    "signature_invalid",
    "suspected_fraud",
    "insufficient_evidence",
    "policyholder_withdrew",
    "other",
]

CaseStatus: TypeAlias = Literal[
    "open",
    "in_review",
    "info_requested",
    "escalated",
    "approved",
    "denied",
    "withdrawn",
    "closed_undecided",
]

ChatRole: TypeAlias = Literal[
    "system",
    "user",
    "tool",
    "assistant",
]

CheckAction: TypeAlias = Literal[
    "allow",
    "block",
]

CheckReason: TypeAlias = Literal[
    "session_canary_locked",
    "canary_unavailable",
    "reading_too_old",
    "canary_tripped",
]

ClaimMomentKind: TypeAlias = Literal[
    "claim.created",
    "attestation.accepted",
    "attestation.evaluated",
    "claim.provenance_updated",
    "claim.escalated",
    "screening.completed",
    "case.opened",
    "case.escalated",
    "case.proposed",
    "case.transitioned",
    "case.noted",
    "case.changed",
    "claim.erased",
]

ClaimOrder: TypeAlias = Literal[
    "created",
    "score",
    "updated",
]

ClaimRiskStatus: TypeAlias = Literal[
    "pending",
    "passed",
    "review",
    "failed",
]

ClinicalPolicyWarning: TypeAlias = Literal[
    "cosigner_unavailable",
]
"""cosigner_unavailable: the policy asks for a co-signature, and the plan of the account has no second user."""

ControlledSchedule: TypeAlias = Literal[
    "I",
    "II",
    "III",
    "IV",
    "V",
]

CountedDecisionKind: TypeAlias = Literal[
    "verify",
    "execute",
]
"""verify: a relying party asked whether an action may run; execute: a token was used for its action."""

DecisionFactsStatus: TypeAlias = Literal[
    "intact",
    "changed",
    "none",
]

DecisionKind: TypeAlias = Literal[
    "authorize",
    "verify",
    "execute",
    "outcome",
    "approval",
    "approval_decision",
    "policy_change",
    "policy_shadow",
    "webhook_decision",
    "trace_check",
    "inference",
    "lock",
    "lock_clear",
    "agent_suspend",
    "agent_unsuspend",
    "revocation",
    "stop",
    "resume",
    "mandate_change",
    "mandate_heartbeat",
    "schedule_change",
    "clinician_order",
    "disclosure",
]

DeclineReason: TypeAlias = Literal[
    "dose",
    "interaction",
    "indication",
    "duplicate",
    "identity",
    "other",
]

DeliveryBodyEncoding: TypeAlias = Literal[
    "utf8",
    "base64",
]

DeliveryStatus: TypeAlias = Literal[
    "pending",
    "delivered",
    "failed",
    "cancelled",
]
"""failed: all attempts failed. cancelled: the endpoint was disabled or deleted."""

DeviceEntryKind: TypeAlias = Literal[
    "enrolled",
    "renewed",
    "attested",
    "revoked",
]

DeviceOrder: TypeAlias = Literal[
    "created",
    "expires",
]

DeviceStatus: TypeAlias = Literal[
    "enrolled",
    "expired",
    "revoked",
]

DiffVerdict: TypeAlias = Literal[
    "pass",
    "warn",
    "drift",
    "inconclusive",
]

DisclosureMode: TypeAlias = Literal[
    "manual",
    "auto",
]

DisclosureStatus: TypeAlias = Literal[
    "unverified",
    "pending",
    "granted",
    "denied",
    "revoked",
    "expired",
]

DrugSchedule: TypeAlias = Literal[
    "I",
    "II",
    "III",
    "IV",
    "V",
    "none",
]
"""Schedule of 21 CFR 1308; none: not a controlled substance."""

DuplicateKind: TypeAlias = Literal[
    "duplicate_media",
    "similar_media",
]

DuplicateStatus: TypeAlias = Literal[
    "pending",
    "compared",
    "not_comparable",
]

Environment: TypeAlias = Literal[
    "sandbox",
    "live",
]

EventSubscription: TypeAlias = Literal[
    "attestation.created",
    "claim.provenance_updated",
    "claim.escalated",
    "case.status_changed",
    "screening.completed",
    "approval.requested",
    "approval.resolved",
    "intent.revoked",
    "trace.job_completed",
    "trace.canary_tripped",
    "trace.diff_completed",
    "trace.disclosure_requested",
    "trace.disclosure_granted",
    "ping",
    "*",
]

EventType: TypeAlias = Literal[
    "attestation.created",
    "claim.provenance_updated",
    "claim.escalated",
    "case.status_changed",
    "screening.completed",
    "approval.requested",
    "approval.resolved",
    "intent.revoked",
    "trace.job_completed",
    "trace.canary_tripped",
    "trace.diff_completed",
    "trace.disclosure_requested",
    "trace.disclosure_granted",
    "ping",
]

EvidenceFileFormat: TypeAlias = Literal[
    "json",
    "pdf",
]

EvidenceFormat: TypeAlias = Literal[
    "android-key",
    "apple-appattest",
]

ExclusionDecision: TypeAlias = Literal[
    "cleared",
    "confirmed",
]

ExclusionFileKind: TypeAlias = Literal[
    "full",
    "excl",
    "rein",
]
"""full replaces the list; excl and rein are monthly supplements of LEIE, which are merged with it."""

ExclusionImportFailureCode: TypeAlias = Literal[
    "unreadable_zip",
    "unreadable_csv",
    "invalid_encoding",
    "missing_columns",
    "no_rows",
    "unfinished_line",
    "fewer_rows",
    "older_list",
    "supplement_as_full",
    "no_full_list",
    "date_unknown",
    "date_in_future",
    "import_failed",
]

ExclusionListName: TypeAlias = Literal[
    "leie",
    "sam",
]
"""leie: of the OIG of the HHS; sam: of the GSA."""

ExclusionListSource: TypeAlias = Literal[
    "account",
    "operator",
]

ExclusionMatch: TypeAlias = Literal[
    "npi",
    "name_birth_date",
    "name",
    "name_state",
]

ExclusionReviewReason: TypeAlias = Literal[
    "birth_date_differs",
    "npi_differs",
    "ssn_differs",
    "address_differs",
    "other_person",
    "same_person",
]

ExclusionReviewStatus: TypeAlias = Literal[
    "open",
    "cleared",
    "confirmed",
]

ExclusionScreeningCause: TypeAlias = Literal[
    "leie",
    "sam",
    "prescribers",
]

ExclusionStatus: TypeAlias = Literal[
    "clear",
    "review",
    "excluded",
]

ExecutionStatus: TypeAlias = Literal[
    "executed",
    "succeeded",
    "failed",
    "not_run",
]

FactEndReason: TypeAlias = Literal[
    "entered_in_error",
    "replaced",
    "surrendered",
    "revoked",
    "person_changed",
    "other",
]

FactorCode: TypeAlias = Literal[
    "device_revoked",
    "session_nonce_mismatch",
    "signature_invalid",
    "no_manifest",
    "frame_hash_mismatch",
    "sensor_hash_mismatch",
    "cert_unknown_ca",
    "hardware_backing_absent",
    "liveness_check_failed",
    "video_manifest_incomplete",
    "gps_absent",
    "timestamp_stale",
    "device_not_enrolled",
    "biometric_absent",
]

FieldErrorCode: TypeAlias = Literal[
    "account_key_required",
    "account_not_empty",
    "account_stopped",
    "account_suspended",
    "address_elsewhere",
    "address_not_public",
    "agent_held_by_lock",
    "agent_session_ended",
    "agent_session_revoked",
    "agent_suspended",
    "api_key_expired",
    "api_key_revoked",
    "app_environment",
    "app_unknown",
    "approval_already_decided",
    "approver_not_eligible",
    "assignee_required",
    "authentication_required",
    "backend_capability_missing",
    "backup_eligibility_changed",
    "bad_signature",
    "being_erased",
    "beta_access_required",
    "boot_not_verified",
    "canary_tripped",
    "cap_reached",
    "case_already_open",
    "case_open",
    "chain_broken",
    "chain_too_short",
    "challenge_act_mismatch",
    "challenge_expired",
    "challenge_mismatch",
    "challenge_unknown",
    "challenge_used",
    "chunk_differs",
    "claim_erased",
    "clinical_policy_denied",
    "confirmation_required",
    "confirmer_not_eligible",
    "conflict",
    "conflicting",
    "conflicting_keys",
    "consumer_moved",
    "content_type_mismatch",
    "cosigner_same_npi",
    "cosigner_same_user",
    "counter_not_zero",
    "counter_went_back",
    "cross_origin",
    "csrf_token_invalid",
    "device_revoked",
    "device_unlocked",
    "digest_mismatch",
    "domain_elsewhere",
    "duplicate",
    "duplicate_key",
    "duplicate_line",
    "empty_body",
    "ends_with_answer",
    "environment_mismatch",
    "events_expired",
    "expired",
    "extension_elsewhere",
    "extension_malformed",
    "extension_missing",
    "external_id_reused",
    "external_id_used",
    "fewer_operations",
    "fragment_not_allowed",
    "host_not_allowed",
    "idempotency_in_progress",
    "idempotency_key_reused",
    "in_future",
    "in_the_past",
    "input_refused",
    "insufficient_role",
    "insufficient_scope",
    "internal_error",
    "invalid_amount",
    "invalid_api_key",
    "invalid_base64",
    "invalid_character",
    "invalid_code",
    "invalid_condition",
    "invalid_currency",
    "invalid_cursor",
    "invalid_digest",
    "invalid_encoding",
    "invalid_format",
    "invalid_id",
    "invalid_json",
    "invalid_key",
    "invalid_link",
    "invalid_pattern",
    "invalid_pointer",
    "invalid_request",
    "invalid_signature",
    "invalid_state_transition",
    "invalid_type",
    "invalid_utf8",
    "invalid_value",
    "ip_not_allowed",
    "is_a_ca",
    "issuer_level_differs",
    "issuer_mismatch",
    "issuer_name_differs",
    "issuer_not_ca",
    "key_id_mismatch",
    "key_mismatch",
    "key_not_generated",
    "key_read_only",
    "key_usage",
    "last_admin_key",
    "last_owner",
    "leave_first",
    "levels_differ",
    "limit_reached",
    "lone_surrogate",
    "lower_rate",
    "malformed",
    "many_tenants",
    "matches_nothing",
    "method_not_allowed",
    "mismatch",
    "ml_dsa_key",
    "monthly_cap_exceeded",
    "name_mismatch",
    "no_chunks",
    "nonce_mismatch",
    "nonce_used",
    "not_a_ca",
    "not_a_certificate",
    "not_a_url",
    "not_allowed",
    "not_alone",
    "not_an_occurrence",
    "not_found",
    "not_lower",
    "not_multiple_of",
    "not_ready",
    "not_supported",
    "not_yet_valid",
    "note_required",
    "number_out_of_range",
    "other_agent",
    "other_subject",
    "other_users",
    "out_of_range",
    "owner_only",
    "passkey_required",
    "path_length",
    "payload_hash_mismatch",
    "payload_too_large",
    "pkce_unsupported",
    "plan_required",
    "port_not_allowed",
    "precondition_failed",
    "precondition_required",
    "prescriber_excluded",
    "prescriber_exists",
    "prescriber_tier_insufficient",
    "private_key",
    "provenance_not_verified",
    "provider_unavailable",
    "range_not_satisfiable",
    "range_too_large",
    "rate_limited",
    "reason_not_allowed",
    "refused_address",
    "remote_media_refused",
    "request_timeout",
    "required",
    "revocation_unknown",
    "revoked",
    "risk_not_flagged",
    "role_limit",
    "role_not_allowed",
    "root_missing",
    "root_of_trust_missing",
    "root_unknown",
    "scheme_not_allowed",
    "second_adjuster_required",
    "service_unavailable",
    "session_canary_locked",
    "session_expired",
    "session_required",
    "shorter_retention",
    "signature_not_invalid",
    "signer_mismatch",
    "signing_unsupported",
    "software_only",
    "sso_login_refused",
    "sso_required",
    "stale",
    "still_arriving",
    "text_not_kept",
    "too_deep",
    "too_few",
    "too_large",
    "too_long",
    "too_many",
    "too_many_pixels",
    "too_many_values",
    "too_short",
    "transition_not_allowed",
    "unexpected",
    "unknown",
    "unknown_ca",
    "unknown_challenge",
    "unknown_event_type",
    "unknown_field",
    "unknown_node",
    "unknown_passkey",
    "unknown_policy_field",
    "unknown_timezone",
    "unreadable_media",
    "unsupported",
    "unsupported_attestation",
    "unsupported_key",
    "unsupported_media_type",
    "used",
    "user_not_present",
    "user_not_verified",
    "userinfo_not_allowed",
    "weak_key",
    "wider",
    "wrong_challenge",
    "wrong_check_digit",
    "wrong_media_type",
    "wrong_origin",
    "wrong_rp_id",
    "wrong_type",
]
"""Stable name for programs."""

FinishReason: TypeAlias = Literal[
    "stop",
    "length",
    "canary_tripped",
    "tool_calls",
    "refusal",
    "content_filter",
]

Flag: TypeAlias = Literal[
    "true",
    "false",
]

GivenFactEndReason: TypeAlias = Literal[
    "entered_in_error",
    "replaced",
    "surrendered",
    "revoked",
    "other",
]

GrantableScope: TypeAlias = Literal[
    "verify",
    "attest",
    "escalate",
    "admin",
    "intent",
    "screen",
    "all",
]

HardwareReasonCode: TypeAlias = Literal[
    "malformed",
    "ml_dsa_key",
    "chain_too_short",
    "chain_broken",
    "issuer_name_differs",
    "issuer_not_ca",
    "root_missing",
    "root_unknown",
    "not_yet_valid",
    "expired",
    "extension_missing",
    "extension_elsewhere",
    "extension_malformed",
    "nonce_mismatch",
    "key_id_mismatch",
    "counter_not_zero",
    "key_mismatch",
    "challenge_mismatch",
    "challenge_unknown",
    "challenge_expired",
    "challenge_used",
    "app_unknown",
    "app_environment",
    "levels_differ",
    "issuer_level_differs",
    "software_only",
    "key_not_generated",
    "root_of_trust_missing",
    "device_unlocked",
    "boot_not_verified",
    "revoked",
    "revocation_unknown",
]

HardwareRevocationStatus: TypeAlias = Literal[
    "good",
    "stale",
    "revoked",
    "never_fetched",
    "off",
    "not_applicable",
]

HardwareTier: TypeAlias = Literal[
    "none",
    "software",
    "tee",
    "strongbox",
    "secure_enclave",
]

IdentityMethod: TypeAlias = Literal[
    "credential_service_provider",
    "in_person",
]
"""credential_service_provider: 21 CFR 1311.105; in_person: by the credentialing office of an institution, 21 CFR
1311.110.
"""

IntentOutcome: TypeAlias = Literal[
    "succeeded",
    "failed",
    "not_run",
]

IntentTokenStatus: TypeAlias = Literal[
    "active",
    "revoked",
    "expired",
]
"""revoked: stays so after `exp`. expired: also when the approval has ended without permission, or was given too long
ago.
"""

InviteStatus: TypeAlias = Literal[
    "pending",
    "accepted",
    "revoked",
    "expired",
]

KillSwitchMode: TypeAlias = Literal[
    "off",
    "monitor",
    "block",
    "block_and_lock",
]

KolmogorovSmirnovMethod: TypeAlias = Literal[
    "exact",
    "asymptotic",
]

LedgerProblemCode: TypeAlias = Literal[
    "entry_changed",
    "entry_misplaced",
    "entry_removed",
    "entry_unlogged",
    "leaf_changed",
    "leaf_missing",
    "node_changed",
    "head_changed",
    "log_shortened",
    "checkpoint_forked",
    "checkpoint_unsigned",
]

ListOrder: TypeAlias = Literal[
    "asc",
    "desc",
]

MandateConstraintName: TypeAlias = Literal[
    "amount",
    "min_amount",
    "max_amount",
    "currency",
    "action_types",
    "counterparties",
    "instruments",
    "not_before",
    "window",
    "budget",
    "max_count",
    "agent_id",
]

MandateStatus: TypeAlias = Literal[
    "revoked",
    "expired",
    "lapsed",
    "suspended",
    "active",
]

MediaContentType: TypeAlias = Literal[
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/heic",
    "image/avif",
    "image/tiff",
    "video/mp4",
    "video/quicktime",
    "video/webm",
]

MediaType: TypeAlias = Literal[
    "image",
    "video",
]

MeteredOperation: TypeAlias = Literal[
    "attest",
    "screen",
    "authorize",
    "verify",
    "inference",
    "trace_job",
    "diff",
    "clinician_order",
]

ModelBackend: TypeAlias = Literal[
    "embedded",
    "onnx",
    "neuronpedia",
    "openai_compatible",
]

OrderAct: TypeAlias = Literal[
    "edit",
    "sign",
    "cosign",
    "decline",
    "cancel",
    "execute",
]

OrderCancelReason: TypeAlias = Literal[
    "entered_in_error",
    "replaced",
    "no_longer_needed",
    "other",
]

OrderEndReason: TypeAlias = Literal[
    "dose",
    "interaction",
    "indication",
    "duplicate",
    "identity",
    "other",
    "entered_in_error",
    "replaced",
    "no_longer_needed",
]

OrderStatus: TypeAlias = Literal[
    "draft",
    "pending_cosign",
    "authorized",
    "executed",
    "declined",
    "cancelled",
    "expired",
]

OrderWarning: TypeAlias = Literal[
    "leie_stale",
    "sam_stale",
]

OverviewPart: TypeAlias = Literal[
    "cases",
    "approvals",
    "captures",
    "screenings",
    "traces",
    "webhooks",
    "devices",
    "agents",
    "locks",
    "stop",
    "keys",
    "usage",
]

PacketAttestationStatus: TypeAlias = Literal[
    "queued",
    "evaluated",
    "failed",
    "cancelled",
]

PacketEntryVia: TypeAlias = Literal[
    "api_key",
    "session",
    "system",
]

PaymentStatus: TypeAlias = Literal[
    "open",
    "paid",
    "failed",
]

Permission: TypeAlias = Literal[
    "claims.read",
    "claims.submit",
    "claims.erase",
    "cases.read",
    "cases.write",
    "screening.read",
    "screening.use",
    "devices.read",
    "devices.write",
    "agents.read",
    "agents.write",
    "agents.suspend",
    "traces.read",
    "traces.write",
    "shares.write",
    "disclosures.read",
    "disclosures.decide",
    "texts.read",
    "texts.erase",
    "locks.read",
    "locks.write",
    "decisions.read",
    "decisions.facts",
    "policy.read",
    "policy.write",
    "intents.read",
    "intents.write",
    "intents.stop",
    "approvals.read",
    "approvals.decide",
    "passkeys.own",
    "mandates.read",
    "mandates.write",
    "schedules.read",
    "schedules.write",
    "prescribers.read",
    "prescribers.write",
    "prescribers.confirm",
    "orders.read",
    "orders.write",
    "orders.sign",
    "exclusions.write",
    "clinical_policy.write",
    "webhooks.read",
    "webhooks.write",
    "events.read",
    "keys.manage",
    "account.read",
    "account.write",
    "usage.read",
    "plan.write",
    "products.write",
    "team.read",
    "team.write",
    "sso.write",
    "audit.read",
    "account.export",
    "account.close",
    "session.own",
]

Plan: TypeAlias = Literal[
    "developer",
    "growth",
    "enterprise",
]

PlanChange: TypeAlias = Literal[
    "current",
    "owner",
    "operator",
]

PolicyEffect: TypeAlias = Literal[
    "deny",
    "biometric",
    "hardware",
    "tier",
    "canary",
    "webhook",
    "approval",
]

PolicyFindingCode: TypeAlias = Literal[
    "always_denies",
    "never_matches",
    "shadowed_by",
    "conflicts_with",
    "unreachable_approval",
    "webhook_unreachable",
    "webhook_without_secret",
    "ineffective",
    "ineffective_when_missing",
    "unknown_policy_field",
]

PolicyNeedKind: TypeAlias = Literal[
    "webhook",
    "canary",
]

PolicyOperator: TypeAlias = Literal[
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "not_in",
    "contains",
    "starts_with",
    "matches",
    "exists",
    "between",
]

PolicyRefusalKind: TypeAlias = Literal[
    "default",
    "deny",
    "biometric",
    "hardware",
    "tier",
    "canary",
    "webhook",
    "approval",
]
"""default: a rule that follows from `default_rules`."""

PolicyWebhookDecision: TypeAlias = Literal[
    "allow",
    "deny",
]

PolicyWebhookUnavailableCause: TypeAlias = Literal[
    "no_secret",
    "busy",
    "status_2xx",
    "status_3xx",
    "status_4xx",
    "status_5xx",
    "malformed",
    "policy_changed",
    "invalid_url",
    "refused_address",
    "dns_failed",
    "connect_failed",
    "tls_failed",
    "timeout",
    "reset",
    "invalid_response",
    "response_too_large",
    "aborted",
]

PrescriberFactKind: TypeAlias = Literal[
    "identity",
    "licence",
    "dea",
]

PrescriberFactStatus: TypeAlias = Literal[
    "entered",
    "confirmed",
    "expired",
    "ended",
]

PrescriberFactWarning: TypeAlias = Literal[
    "dea_initial_differs",
]
"""dea_initial_differs: the second letter of the number is not the initial of the last name, nor 9."""

ProbeKind: TypeAlias = Literal[
    "residual",
    "attention_provenance",
]

ProbeStatus: TypeAlias = Literal[
    "measured",
    "experimental",
]

Product: TypeAlias = Literal[
    "attest",
    "authorize",
    "trace",
]

ProvenanceStatus: TypeAlias = Literal[
    "verified",
    "attested_unverified",
    "unattested",
    "broken",
]

ReadingSource: TypeAlias = Literal[
    "server",
    "client",
]

ReasonPlace: TypeAlias = Literal[
    "verify",
    "clinician_order",
    "factor",
    "advisory",
    "case",
    "finish_reason",
    "ledger",
]

RecoveryKind: TypeAlias = Literal[
    "failed",
    "missing",
]

ReevaluationCause: TypeAlias = Literal[
    "device_revoked",
    "revocation_list",
    "policy_changed",
    "screening",
    "requested",
]

RevealedPlace: TypeAlias = Literal[
    "layer",
    "position",
]

RevokedScope: TypeAlias = Literal[
    "token",
    "session",
    "device",
]

RiskStatus: TypeAlias = Literal[
    "passed",
    "review",
    "failed",
]

Role: TypeAlias = Literal[
    "owner",
    "admin",
    "approver",
    "analyst",
    "developer",
]

ScheduleAmountType: TypeAlias = Literal[
    "fixed",
    "max",
]

ScheduleCycleStatus: TypeAlias = Literal[
    "executed",
    "missed",
    "open",
    "upcoming",
    "cancelled",
]

ScheduleSource: TypeAlias = Literal[
    "request",
    "formulary",
    "table",
]

ScheduleStatus: TypeAlias = Literal[
    "active",
    "paused",
    "exhausted",
    "cancelled",
]

ScreeningCode: TypeAlias = Literal[
    "ai_generated_likely",
    "deepfake_likely",
]

ScreeningFailureCode: TypeAlias = Literal[
    "no_detector",
    "detector_failed",
    "detector_refused",
    "detector_busy",
    "media_erased",
    "erased",
    "video",
    "content_type",
    "too_large",
    "unreadable",
]

SearchResultType: TypeAlias = Literal[
    "claim",
    "case",
    "attestation",
    "batch",
    "capture_session",
    "screening",
    "device",
    "root_ca",
    "c2pa_anchor",
    "agent",
    "agent_session",
    "session_lock",
    "trace",
    "trace_job",
    "model_diff",
    "trace_share",
    "mandate",
    "schedule",
    "approval",
    "revocation",
    "decision",
    "webhook_endpoint",
    "webhook_delivery",
    "api_key",
    "user",
    "invite",
]

SessionLockStatus: TypeAlias = Literal[
    "locked",
    "cleared",
]

ShareScope: TypeAlias = Literal[
    "trace",
    "model_version",
]

ShareStatus: TypeAlias = Literal[
    "active",
    "expired",
    "revoked",
]

SignInMethod: TypeAlias = Literal[
    "magic_link",
    "operator_link",
    "invite",
    "sso",
]

SignatureAct: TypeAlias = Literal[
    "sign",
    "cosign",
]

SignatureMethod: TypeAlias = Literal[
    "passkey",
    "session",
]

StatementStatus: TypeAlias = Literal[
    "open",
    "final",
]

StatisticsWindow: TypeAlias = Literal[
    "24h",
    "7d",
]

SuspensionCause: TypeAlias = Literal[
    "manual",
    "lock",
]

SuspensionReason: TypeAlias = Literal[
    "excluded",
    "licence",
    "registration",
    "compromised",
    "left",
    "other",
]

TextRetention: TypeAlias = Literal[
    "hash",
    "text",
]

TraceDiffFailureCode: TypeAlias = Literal[
    "not_found",
    "backend_capability_missing",
    "service_unavailable",
]

TraceSource: TypeAlias = Literal[
    "client",
    "server",
]

TripSource: TypeAlias = Literal[
    "verify",
    "inference",
    "check",
]

UnavailableCause: TypeAlias = Literal[
    "unknown_model",
    "no_probes",
    "other_set",
    "input_refused",
    "too_late",
    "model_unavailable",
    "over_cap",
]

UsState: TypeAlias = Literal[
    "AL",
    "AK",
    "AS",
    "AZ",
    "AR",
    "CA",
    "CO",
    "CT",
    "DE",
    "DC",
    "FL",
    "GA",
    "GU",
    "HI",
    "ID",
    "IL",
    "IN",
    "IA",
    "KS",
    "KY",
    "LA",
    "ME",
    "MD",
    "MA",
    "MI",
    "MN",
    "MS",
    "MO",
    "MT",
    "NE",
    "NV",
    "NH",
    "NJ",
    "NM",
    "NY",
    "NC",
    "ND",
    "MP",
    "OH",
    "OK",
    "OR",
    "PA",
    "PR",
    "RI",
    "SC",
    "SD",
    "TN",
    "TX",
    "UT",
    "VT",
    "VA",
    "VI",
    "WA",
    "WV",
    "WI",
    "WY",
]

UserAuthentication: TypeAlias = Literal[
    "none",
    "credential",
    "biometric",
    "either",
]

UserStatus: TypeAlias = Literal[
    "active",
    "deprovisioned",
]

WebhookCircuitStatus: TypeAlias = Literal[
    "closed",
    "open",
    "half_open",
]

WebhookDisabledReason: TypeAlias = Literal[
    "gone",
    "failing",
    "manual",
]

WebhookEndpointStatus: TypeAlias = Literal[
    "enabled",
    "disabled",
]

WorkEnd: TypeAlias = Literal[
    "succeeded",
    "failed",
]

WorkStatus: TypeAlias = Literal[
    "queued",
    "running",
    "succeeded",
    "failed",
    "cancelled",
]
