// Written by `npm run clients` from the routes of the service: change those.

import type { Call } from '../core/call.ts'
import { Group, path } from '../core/group.ts'
import type { CallOptions, UploadOptions } from '../core/options.ts'
import type { Lines, Pages } from '../core/pages.ts'
import type { Transport } from '../core/transport.ts'
import type { Items, Uploadable } from '../core/uploads.ts'
import type {
  AcceptInviteRequest,
  Account,
  AccountClosure,
  AccountExport,
  AccountExportList,
  AccountPlan,
  AccountProducts,
  AddCaseNoteRequest,
  Agent,
  AgentList,
  AgentSession,
  AgentSessionList,
  AnalyzeClaimsQuery,
  AnalyzeDecisionsQuery,
  AnalyzeFactorsQuery,
  AnalyzePolicyRequest,
  ApiKey,
  ApiKeyList,
  Approval,
  ApprovalReport,
  ApprovalSummary,
  ApprovalSummaryList,
  ApproveActionRequest,
  AskedDisclosure,
  AttestClaimRequest,
  AttestDeviceRequest,
  Attestation,
  AttributionJob,
  AttributionJobList,
  AttributionManifest,
  AuditEntry,
  AuditEntryList,
  Authorization,
  AuthorizeIntentRequest,
  Batch,
  BatchLine,
  BatchSummary,
  BatchSummaryList,
  C2paAnchor,
  C2paAnchorList,
  CanaryCheck,
  CancelOrderRequest,
  CancelledBatch,
  CaptureSession,
  CaptureSessionList,
  CaptureStream,
  Case,
  CaseCounts,
  CaseEntry,
  CaseEntryList,
  CaseList,
  ChangeUserRoleRequest,
  ChangelogVersion,
  ChangelogVersionList,
  CheckCanariesRequest,
  CheckLedgerRequest,
  Chunk,
  Claim,
  ClaimAnalytics,
  ClaimList,
  ClaimMoment,
  ClaimMomentList,
  ClearSessionLockRequest,
  ClearedLock,
  ClinicalFormulary,
  ClinicalPolicy,
  ClinicalPolicyList,
  CloseAccountRequest,
  ConfirmPrescriberFactsRequest,
  ConfirmedPrescriberFacts,
  CosignOrderRequest,
  CountCasesQuery,
  CreateAgentRequest,
  CreateApiKeyRequest,
  CreateAttributionJobRequest,
  CreateC2paAnchorRequest,
  CreateCaptureSessionsRequest,
  CreateChallengesRequest,
  CreateEvalSetRequest,
  CreateInferenceRequest,
  CreateMandateRequest,
  CreateOrderChallengeRequest,
  CreateOrderRequest,
  CreatePasskeyChallengeRequest,
  CreatePrescriberFactChallengeRequest,
  CreatePrescriberFactRequest,
  CreatePrescriberRequest,
  CreateRootCaRequest,
  CreateScheduleRequest,
  CreateTraceDiffRequest,
  CreateTraceShareRequest,
  CreateWebhookEndpointRequest,
  CreatedApiKey,
  CreatedScimToken,
  CreatedTraceShare,
  CreatedWebhookEndpoint,
  Credential,
  DecideExclusionReviewRequest,
  Decision,
  DecisionAnalytics,
  DecisionExplanation,
  DecisionList,
  DeclineOrderRequest,
  DeletedC2paAnchor,
  DeletedEvalSet,
  DeletedEventConsumer,
  DeletedPasskey,
  DeletedRootCa,
  DeletedSsoConfig,
  DeletedWebhookEndpoint,
  Delivery,
  DeliveryLine,
  DeliveryList,
  DenyActionRequest,
  Device,
  DeviceBatch,
  DeviceCounts,
  DeviceEntry,
  DeviceEntryList,
  DeviceEvidence,
  DeviceList,
  DeviceRefresh,
  DisclosureRequest,
  DisclosureRequestList,
  DownloadBatchResultsQuery,
  DownloadBatchResultsResponseLine,
  DryRunRiskPolicyRequest,
  DueScheduleCycle,
  DueScheduleCycleList,
  DuplicateFindings,
  DuplicateFindingsList,
  EndPrescriberFactRequest,
  EndedSession,
  EndedSessions,
  EnrollDeviceRequest,
  EvalSet,
  EvalSetList,
  Event,
  EventConsumer,
  EventConsumerList,
  EventList,
  EventPull,
  EventTypeEntry,
  EventTypeEntryList,
  ExclusionChange,
  ExclusionChangeList,
  ExclusionImport,
  ExclusionImportList,
  ExclusionList,
  ExclusionReview,
  ExclusionReviewList,
  ExclusionScreening,
  ExclusionScreeningList,
  Execution,
  ExportAccountRequest,
  ExportAuditEntriesQuery,
  ExportDeliveriesQuery,
  ExportEvidenceQuery,
  ExportLedgerQuery,
  ExternalGraph,
  FactorAnalytics,
  FormularyEntry,
  FormularyEntryList,
  FullDelivery,
  GetAccountExportQuery,
  GetApprovalQuery,
  GetAttestationQuery,
  GetAttributionJobQuery,
  GetAttributionManifestQuery,
  GetBatchQuery,
  GetDecisionProofQuery,
  GetDeviceHistoryQuery,
  GetExclusionImportQuery,
  GetLedgerConsistencyQuery,
  GetMandateSpendQuery,
  GetRecoveryQuery,
  GetReevaluationQuery,
  GetScreeningBatchQuery,
  GetScreeningQuery,
  GetShadowReportQuery,
  GetTraceDiffQuery,
  GetUsageQuery,
  GetWebhookEndpointStatisticsQuery,
  GrantDisclosureRequest,
  ImportLeieQuery,
  ImportSamQuery,
  IncidentReport,
  IncidentReportList,
  Inference,
  Intent,
  IntentList,
  IntentStatus,
  IntentStop,
  InterveneInTraceRequest,
  Intervention,
  Invite,
  InviteList,
  InviteUserRequest,
  IssuedChallenges,
  IssuedSessions,
  KillSwitch,
  KillSwitchPreview,
  LedgerCheck,
  LedgerCheckpoint,
  LedgerCheckpointList,
  LedgerConsistencyProof,
  LedgerInclusionProof,
  LedgerLine,
  ListAccountExportsQuery,
  ListAgentSessionsQuery,
  ListAgentsQuery,
  ListAllAgentSessionsQuery,
  ListAllDeliveriesQuery,
  ListApiKeysQuery,
  ListApprovalsQuery,
  ListAttestationsQuery,
  ListAttributionJobsQuery,
  ListAuditEntriesQuery,
  ListBatchesQuery,
  ListC2paAnchorsQuery,
  ListCaptureSessionsQuery,
  ListCaseEntriesQuery,
  ListCasesQuery,
  ListClaimTimelineQuery,
  ListClaimsQuery,
  ListClinicalPolicyVersionsQuery,
  ListDecisionsQuery,
  ListDeliveriesQuery,
  ListDevicesQuery,
  ListDisclosureRequestsQuery,
  ListDuplicatesQuery,
  ListEvalSetsQuery,
  ListEventConsumersQuery,
  ListEventsQuery,
  ListExclusionChangesQuery,
  ListExclusionImportsQuery,
  ListExclusionReviewsQuery,
  ListExclusionScreeningsQuery,
  ListFormularyEntriesQuery,
  ListIncidentReportsQuery,
  ListIntentsQuery,
  ListInvitesQuery,
  ListLedgerCheckpointsQuery,
  ListMandatesQuery,
  ListOrdersQuery,
  ListPasskeysQuery,
  ListPolicyVersionsQuery,
  ListPrescriberFactsQuery,
  ListPrescribersQuery,
  ListRecoveriesQuery,
  ListReevaluationsQuery,
  ListRejectedLinesQuery,
  ListRejectedScreeningLinesQuery,
  ListReplacedResultsQuery,
  ListRevocationsQuery,
  ListRiskPolicyVersionsQuery,
  ListRootCasQuery,
  ListScheduleCyclesQuery,
  ListSchedulesQuery,
  ListScimTokensQuery,
  ListScreeningBatchesQuery,
  ListScreeningsQuery,
  ListSessionLocksQuery,
  ListSessionsQuery,
  ListShareViewsQuery,
  ListStatementsQuery,
  ListTraceDiffsQuery,
  ListTraceSharesQuery,
  ListTraceTokensQuery,
  ListTracesQuery,
  ListUsersQuery,
  ListWebhookEndpointsQuery,
  LowerPlanRequest,
  MagicLinkRequested,
  MakeExternalGraphRequest,
  Mandate,
  MandateDailySpend,
  MandateList,
  MandateSpend,
  MandateSpendList,
  Media,
  MediaDetails,
  Model,
  ModelList,
  NarrowMandateRequest,
  OpenAgentSessionRequest,
  OpenCaseRequest,
  OpenSession,
  OpenSessionList,
  Order,
  OrderChallenge,
  OrderList,
  Overview,
  Passkey,
  PasskeyChallenge,
  PasskeyList,
  PasskeyRegistration,
  Policy,
  PolicyAnalysis,
  PolicyReplay,
  PolicyShadowReport,
  PolicySimulation,
  PolicyValidation,
  PolicyVersionSummary,
  PolicyVersionSummaryList,
  PolicyWebhookSecret,
  Prescriber,
  PrescriberFact,
  PrescriberFactList,
  PrescriberList,
  PreviewKillSwitchRequest,
  PullEventsQuery,
  PutEventConsumerRequest,
  ReasonCode,
  ReasonCodeList,
  RecoverWebhookEndpointRequest,
  Reevaluation,
  ReevaluationList,
  RegisterPasskeyRequest,
  RejectedLine,
  RejectedLineList,
  RenamePasskeyRequest,
  ReplaceClinicalPolicyRequest,
  ReplaceKillSwitchRequest,
  ReplacePolicyRequest,
  ReplaceProductsRequest,
  ReplaceRiskPolicyRequest,
  ReplaceScreeningSettingsRequest,
  ReplacedResult,
  ReplacedResultList,
  ReplayPolicyRequest,
  ReportApprovalsQuery,
  ReportMandateSpendQuery,
  ReportOutcomeRequest,
  ReportUnexecutedQuery,
  RequestDisclosureRequest,
  RequestMagicLinkRequest,
  RetireAgentRequest,
  Revocation,
  RevocationList,
  RevokeDeviceRequest,
  RevokeIntentsRequest,
  RevokeMandateRequest,
  RevokedApiKey,
  RiskPolicy,
  RiskPolicyDryRun,
  RiskPolicyList,
  RoleEntry,
  RoleEntryList,
  RollBackPolicyRequest,
  RootCa,
  RootCaList,
  RotateApiKeyRequest,
  RotatePolicyWebhookSecretRequest,
  RotatedApiKey,
  RotatedPolicyWebhookSecret,
  Schedule,
  ScheduleList,
  SchedulePreview,
  ScimToken,
  ScimTokenList,
  ScreenMediaRequest,
  Screening,
  ScreeningBatch,
  ScreeningBatchList,
  ScreeningLine,
  ScreeningList,
  ScreeningSettings,
  SearchEverythingQuery,
  SearchResults,
  SentPing,
  Session,
  SessionLock,
  SessionLockList,
  ShadowRule,
  ShareView,
  ShareViewList,
  SharedView,
  SignOrderRequest,
  SignedEvidencePacket,
  SimulatePolicyRequest,
  SsoConfig,
  Statement,
  StatementList,
  StopIntentsRequest,
  SubmittedAttestation,
  SubmittedAttestationList,
  SubmittedBatch,
  SubmittedScreeningBatch,
  SuspendAgentRequest,
  SuspendPrescriberRequest,
  Trace,
  TraceDiff,
  TraceDiffList,
  TraceDiffReport,
  TraceList,
  TraceShare,
  TraceShareList,
  TraceTexts,
  TracedToken,
  TracedTokenList,
  TransitionCaseRequest,
  UnexecutedIntent,
  UnexecutedIntentList,
  UpdateAccountRequest,
  UpdateAgentRequest,
  UpdateApiKeyRequest,
  UpdateCaseRequest,
  UpdateDeviceRequest,
  UpdateOrderRequest,
  UpdatePrescriberRequest,
  UpdateSecretRequest,
  UpdateSsoConfigRequest,
  UpdateTraceShareRequest,
  UpdateWebhookEndpointRequest,
  Usage,
  User,
  UserList,
  UserRemoval,
  UserRoleChange,
  ValidatePolicyRequest,
  VerifyDisclosureRequestRequest,
  VerifyIntentRequest,
  VerifyMagicLinkRequest,
  VerifyResult,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointStatistics,
  WebhookRecovery,
  WebhookRecoveryList,
} from './types.ts'

export class AccountAuditMethods extends Group {
  /**
   * The audit log as NDJSON, oldest first.
   *
   * The export has one entry per line, takes the same filters, and ends at the time of the request. The export is
   * recorded too.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  export(args?: ExportAuditEntriesQuery, options?: CallOptions): Lines<AuditEntry> {
    return this.callLines<AuditEntry>('/v1/account/audit/export', { args, answer: 'AuditEntry' }, options)
  }

  /**
   * List administrative acts, and reads of photos, videos and evidence packets, newest first.
   *
   * Who did what, when and from where. An entry is written in the transaction of the act, and the entry of a read before
   * its first byte is sent. Reads of the same photo or video by the same key or user within a minute are one entry; each
   * download of an export is one. Refused acts (`act.refused`) and failed sign-ins of users (`user.sign_in_refused`) are
   * entries, ten of one key or user in ten minutes, and the others counted in one. A sandbox key reads the entries of
   * the sandbox. Entries are kept for 30 days, a year or seven years, by plan. See [the
   * account](https://api.example.test/docs/account/account).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  list(args?: ListAuditEntriesQuery, options?: CallOptions): Pages<AuditEntry, AuditEntryList> {
    return this.callPages<AuditEntry, AuditEntryList>('/v1/account/audit', { args, answer: 'AuditEntry' }, options)
  }

  /**
   * One entry of the audit log.
   *
   * The entry is the same as in the list.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  retrieve(auditEntryId: string, options?: CallOptions): Call<AuditEntry> {
    return this.callJson<AuditEntry>('GET', path`/v1/account/audit/${auditEntryId}`, { answer: 'AuditEntry' }, options)
  }
}

export class AccountClosureMethods extends Group {
  /**
   * Whether the account is closed, and when it is erased.
   *
   * Takes the session of an owner.
   *
   * No API key: a session only. Sessions: owner.
   */
  retrieve(options?: CallOptions): Call<AccountClosure> {
    return this.callJson<AccountClosure>('GET', '/v1/account/closure', { answer: 'AccountClosure' }, options)
  }
}

export class AccountExportsMethods extends Group {
  /**
   * Make an archive of everything that the account has.
   *
   * Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). Each table is
   * one file with a JSON object per line, for both environments; secrets and their hashes are left out. `manifest.json`
   * has the SHA-256 of each file. An account has one export at a time. See [the
   * account](https://api.example.test/docs/account/account).
   *
   * No API key: a session only. Sessions: owner.
   */
  create(args?: ExportAccountRequest, options?: CallOptions): Call<AccountExport> {
    return this.callJson<AccountExport>('POST', '/v1/account/export', { args, body: 'flat', answer: 'AccountExport' }, options)
  }

  /**
   * Download the archive (ZIP), or one range of it.
   *
   * Takes a session that began less than 10 minutes ago, as requesting the export does. The answer is `not_ready` until
   * the archive is made, and `conflict` after it has expired. Each download is in the audit log: a range that does not
   * begin with the first byte continues one.
   *
   * No API key: a session only. Sessions: owner.
   */
  download(exportId: string, args?: {
      /** One range of bytes, such as `bytes=0-1048575`. */
      range?: string | undefined
      /** The ETag of the archive. With another ETag the answer is the whole archive. */
      ifRange?: string | undefined
    }, options?: CallOptions): Call<Response> {
    return this.callBytes(path`/v1/account/exports/${exportId}/download`, { args, headers: { range: 'Range', ifRange: 'If-Range' }, accept: 'application/zip' }, options)
  }

  /**
   * Exports of the account, newest first.
   *
   * The list includes exports that failed or have expired.
   *
   * No API key: a session only. Sessions: owner.
   */
  list(args?: ListAccountExportsQuery, options?: CallOptions): Pages<AccountExport, AccountExportList> {
    return this.callPages<AccountExport, AccountExportList>('/v1/account/exports', { args, answer: 'AccountExport' }, options)
  }

  /**
   * The status and progress of one export.
   *
   * `succeeded` means that the archive can be downloaded until `expires_at`, for 7 days. `wait` waits for the end of the
   * export.
   *
   * No API key: a session only. Sessions: owner.
   */
  retrieve(exportId: string, args?: GetAccountExportQuery, options?: CallOptions): Call<AccountExport> {
    return this.callJson<AccountExport>('GET', path`/v1/account/exports/${exportId}`, { args, answer: 'AccountExport' }, options)
  }
}

export class AccountInvoicesMethods extends Group {
  /**
   * Monthly statements, newest first, from the first month of the account on.
   *
   * A statement has units per metered operation, computed from the usage. It has no amounts: prices are agreed with the
   * operator of the service. The statement of the current month is `open`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst.
   */
  list(args?: ListStatementsQuery, options?: CallOptions): Pages<Statement, StatementList> {
    return this.callPages<Statement, StatementList>('/v1/account/invoices', { args, answer: 'Statement' }, options)
  }
}

export class AccountKeysMethods extends Group {
  /**
   * Create an API key. The raw key is in this answer only.
   *
   * Keep `key`: it can not be read again. A key gives at most its own scopes, products, end and `ip_allow`; where the
   * body names no `products`, `expires_at` or `ip_allow`, the new key gets those of the calling key. A key that is
   * narrowed by `products` calls the routes of these products and those of the account, within its scopes. A `read_only`
   * key calls those that only read. An owner or an admin gives any scope, a developer any in the sandbox and attest,
   * verify, intent and screen in live. `all` is for the sandbox only. An environment has at most 200 active keys.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  create(args: CreateApiKeyRequest, options?: CallOptions): Call<CreatedApiKey> {
    return this.callJson<CreatedApiKey>('POST', '/v1/account/keys', { args, body: 'flat', answer: 'CreatedApiKey' }, options)
  }

  /**
   * List the API keys of an environment, newest first.
   *
   * Lists the keys of the calling key's environment, or of Service-Environment. `status=working` lists all that are
   * accepted: active and rotating ones. A user with the role developer sees and changes only keys that they created.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  list(args?: ListApiKeysQuery, options?: CallOptions): Pages<ApiKey, ApiKeyList> {
    return this.callPages<ApiKey, ApiKeyList>('/v1/account/keys', { args, answer: 'ApiKey' }, options)
  }

  /**
   * Read one API key.
   *
   * The answer never contains the raw key. A user with the role developer sees and changes only keys that they created.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(apiKeyId: string, options?: CallOptions): Call<ApiKey> {
    return this.callJson<ApiKey>('GET', path`/v1/account/keys/${apiKeyId}`, { answer: 'ApiKey' }, options)
  }

  /**
   * Revoke an API key permanently, from its next request on.
   *
   * The next request with the key is `api_key_revoked`, in every process. Pending invites that it sent are revoked
   * (`invites_revoked`). Keys that it created go on working, and `keys_created` names them. Revoking it again changes
   * nothing. `warnings` says when no key with the scope `admin` is left. A user with the role developer sees and changes
   * only keys that they created.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer. A rate limit of its own, for
   * emergencies.
   */
  revoke(apiKeyId: string, options?: CallOptions): Call<RevokedApiKey> {
    return this.callJson<RevokedApiKey>('POST', path`/v1/account/keys/${apiKeyId}/revoke`, { answer: 'RevokedApiKey' }, options)
  }

  /**
   * Replace an API key. Both work until the grace period is over.
   *
   * The successor has the same name, scopes, products and `ip_allow`, and lives as long as the old key was made to live,
   * counted from now; a key that rotates itself keeps its end. The old key works for `grace_period_seconds`, a day when
   * absent, and counts as revoked after that. Rotating a key needs the same authority as creating one like it. A key
   * that is not active is `invalid_state_transition`; of two rotations at once one succeeds.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  rotate(apiKeyId: string, args?: RotateApiKeyRequest, options?: CallOptions): Call<RotatedApiKey> {
    return this.callJson<RotatedApiKey>('POST', path`/v1/account/keys/${apiKeyId}/rotate`, { args, body: 'flat', answer: 'RotatedApiKey' }, options)
  }

  /**
   * Change the name of an API key, or the addresses from which it is accepted.
   *
   * Members that are absent keep their values. New addresses take effect with the next request of the key. Setting them
   * needs the same authority as creating such a key. Scopes, products, end and `read_only` never change: create another
   * key. A user with the role developer sees and changes only keys that they created.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  update(apiKeyId: string, args?: UpdateApiKeyRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<ApiKey> {
    return this.callJson<ApiKey>('PATCH', path`/v1/account/keys/${apiKeyId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'ApiKey' }, options)
  }
}

export class AccountPlanMethods extends Group {
  /**
   * The plan, what is used of it this month, and the other plans.
   *
   * `change` says who can change to a plan: the owner, or the operator of the service.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(options?: CallOptions): Call<AccountPlan> {
    return this.callJson<AccountPlan>('GET', '/v1/account/plan', { answer: 'AccountPlan' }, options)
  }

  /**
   * Change to a smaller plan.
   *
   * A smaller plan takes effect with the next request. Without `confirm` the answer is a `conflict` whose `errors` say
   * what the change brings: fewer operations and requests, histories that are deleted, and after the plan enterprise no
   * users beside the owner. For a larger plan ask the operator of the service.
   *
   * No API key: a session only. Sessions: owner.
   */
  update(args: LowerPlanRequest, options?: CallOptions): Call<AccountPlan> {
    return this.callJson<AccountPlan>('PUT', '/v1/account/plan', { args, body: 'flat', answer: 'AccountPlan' }, options)
  }
}

export class AccountProductsMethods extends Group {
  /**
   * The products that the account uses.
   *
   * Events of a product reach webhook endpoints only while the account uses the product.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(options?: CallOptions): Call<AccountProducts> {
    return this.callJson<AccountProducts>('GET', '/v1/account/products', { answer: 'flat' }, options)
  }

  /**
   * Set the products that the account uses.
   *
   * Replaces the whole list. It takes effect with the next event: deliveries that are waiting are still sent. An API key
   * must be a live one. `version` is that of the account: it counts changes of its name, plan and products.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  update(args: ReplaceProductsRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<AccountProducts> {
    return this.callJson<AccountProducts>('PUT', '/v1/account/products', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'flat' }, options)
  }
}

export class AccountReevaluationsMethods extends Group {
  /**
   * List re-evaluations and their causes, newest first.
   *
   * Each cause has one re-evaluation: a revoked device, a new list of revoked attestation keys, another risk policy, a
   * late screening. Re-evaluations are kept for a month; the results that they replaced stay.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListReevaluationsQuery, options?: CallOptions): Pages<Reevaluation, ReevaluationList> {
    return this.callPages<Reevaluation, ReevaluationList>('/v1/account/reevaluations', { args, answer: 'Reevaluation' }, options)
  }

  /**
   * Read one re-evaluation, with its progress.
   *
   * `wait` keeps the request open until the re-evaluation has ended, for that many seconds at most.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(reevaluationId: string, args?: GetReevaluationQuery, options?: CallOptions): Call<Reevaluation> {
    return this.callJson<Reevaluation>('GET', path`/v1/account/reevaluations/${reevaluationId}`, { args, answer: 'Reevaluation' }, options)
  }
}

export class AccountRiskPolicyMethods extends Group {
  /**
   * Preview which past claims another risk policy would change; nothing is changed.
   *
   * Judges stored facts by the policy in the body, and lists each claim that would change with its standing before and
   * after. Nothing is written, and no event is sent. A page examines 2,000 claims at most, and may have fewer changes
   * than `limit` and more to come: follow `next_cursor` to the end and add up `looked` and `would_change`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  dryRun(args: DryRunRiskPolicyRequest, options?: CallOptions): Call<RiskPolicyDryRun> {
    return this.callJson<RiskPolicyDryRun>('POST', '/v1/account/risk-policy/dry-run', { args, body: 'flat', answer: 'RiskPolicyDryRun' }, options)
  }

  /**
   * List all versions of the risk policy, newest first, and who made each.
   *
   * A version never changes. `policy_version` of a result is one of these, or 0.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listVersions(args?: ListRiskPolicyVersionsQuery, options?: CallOptions): Pages<RiskPolicy, RiskPolicyList> {
    return this.callPages<RiskPolicy, RiskPolicyList>('/v1/account/risk-policy/versions', { args, answer: 'RiskPolicy' }, options)
  }

  /**
   * Read the current risk policy, with its version as ETag.
   *
   * Each environment of an account has its own policy. `version` 0 is the defaults, which apply until a policy is set.
   * To change it, change `document` and send it back, with the ETag as `If-Match`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<RiskPolicy> {
    return this.callJson<RiskPolicy>('GET', '/v1/account/risk-policy', { answer: 'RiskPolicy' }, options)
  }

  /**
   * Read one version of the risk policy.
   *
   * Version 0 is the defaults.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieveVersion(version: string, options?: CallOptions): Call<RiskPolicy> {
    return this.callJson<RiskPolicy>('GET', path`/v1/account/risk-policy/versions/${version}`, { answer: 'RiskPolicy' }, options)
  }

  /**
   * Replace the risk policy, and re-evaluate the results that it judges differently.
   *
   * Makes a new version, which applies to every later result; the same document again makes none. Without `If-Match` the
   * answer is 428, and with the ETag of another version 412. Results that the new policy judges differently are
   * re-evaluated at bulk priority: `GET /v1/account/reevaluations` shows the progress. Try a dry run first.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(args: ReplaceRiskPolicyRequest & {
      /** Required. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<RiskPolicy> {
    return this.callJson<RiskPolicy>('PUT', '/v1/account/risk-policy', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'RiskPolicy' }, options)
  }
}

export class AccountUsageMethods extends Group {
  /**
   * What the account has used in a month, per operation and day.
   *
   * Counts successful operations of the live environment up to now. The sandbox is not metered. An operation that is
   * given back (a line of a batch that can not be evaluated, or is cancelled before) is subtracted on the day on which
   * it is given back.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst.
   */
  retrieve(args?: GetUsageQuery, options?: CallOptions): Call<Usage> {
    return this.callJson<Usage>('GET', '/v1/account/usage', { args, answer: 'Usage' }, options)
  }
}

export class AccountMethods extends Group {
  readonly audit: AccountAuditMethods
  readonly closure: AccountClosureMethods
  readonly exports: AccountExportsMethods
  readonly invoices: AccountInvoicesMethods
  readonly keys: AccountKeysMethods
  readonly plan: AccountPlanMethods
  readonly products: AccountProductsMethods
  readonly reevaluations: AccountReevaluationsMethods
  readonly riskPolicy: AccountRiskPolicyMethods
  readonly usage: AccountUsageMethods

  constructor(transport: Transport) {
    super(transport)
    this.audit = new AccountAuditMethods(transport)
    this.closure = new AccountClosureMethods(transport)
    this.exports = new AccountExportsMethods(transport)
    this.invoices = new AccountInvoicesMethods(transport)
    this.keys = new AccountKeysMethods(transport)
    this.plan = new AccountPlanMethods(transport)
    this.products = new AccountProductsMethods(transport)
    this.reevaluations = new AccountReevaluationsMethods(transport)
    this.riskPolicy = new AccountRiskPolicyMethods(transport)
    this.usage = new AccountUsageMethods(transport)
  }

  /**
   * Close the account. It is erased after 30 days, and until then this can be undone.
   *
   * Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). From the next
   * request on, API keys and other users get `account_suspended`; jobs and webhook deliveries wait. Owners can read,
   * export everything and undo the closure. After 30 days all rows and media of the account are erased. See [the
   * account](https://api.example.test/docs/account/account#closing-the-account).
   *
   * No API key: a session only. Sessions: owner.
   */
  close(args: CloseAccountRequest, options?: CallOptions): Call<AccountClosure> {
    return this.callJson<AccountClosure>('POST', '/v1/account/closure', { args, body: 'flat', answer: 'AccountClosure' }, options)
  }

  /**
   * Undo the closure of the account.
   *
   * Possible within 30 days, with a session that began less than 10 minutes ago. Keys and sessions work again, and
   * waiting jobs and deliveries continue.
   *
   * No API key: a session only. Sessions: owner.
   */
  reopen(options?: CallOptions): Call<AccountClosure> {
    return this.callJson<AccountClosure>('DELETE', '/v1/account/closure', { answer: 'AccountClosure' }, options)
  }

  /**
   * The account, its limits and its notices.
   *
   * Takes any key that has the scope, of either environment, or a session of any role.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(options?: CallOptions): Call<Account> {
    return this.callJson<Account>('GET', '/v1/account', { answer: 'Account' }, options)
  }

  /**
   * Rename the account.
   *
   * Takes a live key, or a session. People see the name; the id of the account stays.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  update(args: UpdateAccountRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<Account> {
    return this.callJson<Account>('PATCH', '/v1/account', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'Account' }, options)
  }
}

export class AgentsSessionsMethods extends Group {
  /**
   * Open a session of an agent.
   *
   * A session is one run of the agent. Send its id to authorize, verify and check as `agent_session_id`: it names the
   * agent too. An agent that is suspended or retired opens no session.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  create(agentId: string, args?: OpenAgentSessionRequest, options?: CallOptions): Call<AgentSession> {
    return this.callJson<AgentSession>('POST', path`/v1/agents/${agentId}/sessions`, { args, body: 'flat', answer: 'AgentSession' }, options)
  }

  /**
   * End a session of an agent permanently.
   *
   * A session that has ended stays as it is. A lock on it stays too.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  end(agentId: string, agentSessionId: string, options?: CallOptions): Call<AgentSession> {
    return this.callJson<AgentSession>('POST', path`/v1/agents/${agentId}/sessions/${agentSessionId}/end`, { answer: 'AgentSession' }, options)
  }

  /**
   * List the sessions of an agent, newest first.
   *
   * Sessions that ended are kept for 90 days after their end.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(agentId: string, args?: ListAgentSessionsQuery, options?: CallOptions): Pages<AgentSession, AgentSessionList> {
    return this.callPages<AgentSession, AgentSessionList>(path`/v1/agents/${agentId}/sessions`, { args, answer: 'AgentSession' }, options)
  }

  /**
   * List the sessions of all agents, newest first.
   *
   * A session must match all filters. Sessions that ended are kept for 90 days after their end.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listAll(args?: ListAllAgentSessionsQuery, options?: CallOptions): Pages<AgentSession, AgentSessionList> {
    return this.callPages<AgentSession, AgentSessionList>('/v1/agents/sessions', { args, answer: 'AgentSession' }, options)
  }

  /**
   * Read one session of an agent.
   *
   * A session of another agent is not found.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(agentId: string, agentSessionId: string, options?: CallOptions): Call<AgentSession> {
    return this.callJson<AgentSession>('GET', path`/v1/agents/${agentId}/sessions/${agentSessionId}`, { answer: 'AgentSession' }, options)
  }
}

export class AgentsMethods extends Group {
  readonly sessions: AgentsSessionsMethods

  constructor(transport: Transport) {
    super(transport)
    this.sessions = new AgentsSessionsMethods(transport)
  }

  /**
   * Register an agent.
   *
   * An agent is software that acts on another party’s behalf. Tokens, sessions and locks name the agent by `agent_id`.
   * `public_key` identifies it to others: the service stores the key and signs nothing with it.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateAgentRequest, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('POST', '/v1/agents', { args, body: 'CreateAgentRequest', answer: 'Agent' }, options)
  }

  /**
   * List agents, newest first.
   *
   * An agent must match all filters, and any of the given values of `status`. `owner` is compared exactly.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListAgentsQuery, options?: CallOptions): Pages<Agent, AgentList> {
    return this.callPages<Agent, AgentList>('/v1/agents', { args, answer: 'Agent' }, options)
  }

  /**
   * End an agent permanently, with its sessions, from the next decision on.
   *
   * Retiring is permanent. From the commit on, every verify of a token of the agent, under any mandate, answers
   * `agent_suspended`, and its open sessions have ended. The agent gets no tokens, sessions or mandates, and can not be
   * changed or unsuspended. Its records stay. It needs `escalate`. A retired agent stays as it is.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  retire(agentId: string, args: RetireAgentRequest, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('POST', path`/v1/agents/${agentId}/retire`, { args, body: 'flat', answer: 'Agent' }, options)
  }

  /**
   * Read one agent, with the causes of its suspension.
   *
   * `suspensions` shows why an agent is suspended: each cause is lifted separately.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(agentId: string, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('GET', path`/v1/agents/${agentId}`, { answer: 'Agent' }, options)
  }

  /**
   * Suspend an agent, from the next decision on.
   *
   * From the commit on, every verify of a token of the agent answers `agent_suspended`, in every process. An agent that
   * is suspended manually, or retired, stays as it is. Other requests do not count against the rate limit of this one.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
   * emergencies.
   */
  suspend(agentId: string, args: SuspendAgentRequest, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('POST', path`/v1/agents/${agentId}/suspend`, { args, body: 'flat', answer: 'Agent' }, options)
  }

  /**
   * Resume an agent that was suspended manually.
   *
   * Lifts the manual suspension. While a session lock holds the agent, the answer is 409 `agent_held_by_lock` with
   * `lock_id`, and nothing changes: clear the lock. An agent that is active or retired is 409
   * `invalid_state_transition`.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  unsuspend(agentId: string, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('POST', path`/v1/agents/${agentId}/unsuspend`, { answer: 'Agent' }, options)
  }

  /**
   * Change the registered data of an agent.
   *
   * Members that are absent keep their values; `public_key: null` removes the key. It needs `escalate`. A retired agent
   * is 409 `invalid_state_transition`.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  update(agentId: string, args?: UpdateAgentRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<Agent> {
    return this.callJson<Agent>('PATCH', path`/v1/agents/${agentId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'UpdateAgentRequest', answer: 'Agent' }, options)
  }
}

export class AnalyticsApprovalsMethods extends Group {
  /**
   * Count approvals by their age, and how long people took.
   *
   * Counts the approvals that were requested in the range as pending, approved, denied, expired or cancelled in each
   * class of age. The age is the time until they ended, or until now. See
   * [reports](https://api.example.test/docs/authorize/reports).
   *
   * Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(args?: ReportApprovalsQuery, options?: CallOptions): Call<ApprovalReport> {
    return this.callJson<ApprovalReport>('GET', '/v1/analytics/approvals', { args, answer: 'ApprovalReport' }, options)
  }
}

export class AnalyticsClaimsMethods extends Group {
  /**
   * Count claims by day and risk status.
   *
   * Counts new claims by day and by their current risk status. A period of more than 500,000 claims is refused with
   * `range_too_large`: ask for a shorter one. See [analytics](https://api.example.test/docs/reference/analytics).
   *
   * Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieve(args?: AnalyzeClaimsQuery, options?: CallOptions): Call<ClaimAnalytics> {
    return this.callJson<ClaimAnalytics>('GET', '/v1/analytics/claims', { args, answer: 'ClaimAnalytics' }, options)
  }
}

export class AnalyticsDecisionsMethods extends Group {
  /**
   * Count verifications by day and reason.
   *
   * Counts the entries `verify` and `execute` of the ledger by day and reason. A period of more than 500,000 of them is
   * refused with `range_too_large`: ask for a shorter one. See
   * [analytics](https://api.example.test/docs/reference/analytics).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(args?: AnalyzeDecisionsQuery, options?: CallOptions): Call<DecisionAnalytics> {
    return this.callJson<DecisionAnalytics>('GET', '/v1/analytics/decisions', { args, answer: 'DecisionAnalytics' }, options)
  }
}

export class AnalyticsFactorsMethods extends Group {
  /**
   * Count factors by the outcome of cases.
   *
   * Counts the cases that ended in the period by their outcome, and for each factor and advisory code how many of their
   * claims have it: a factor of as many legitimate as fraudulent claims says nothing. A reopened case has not ended. A
   * period of more than 10,000 cases is refused with `range_too_large`. See
   * [analytics](https://api.example.test/docs/reference/analytics).
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieve(args?: AnalyzeFactorsQuery, options?: CallOptions): Call<FactorAnalytics> {
    return this.callJson<FactorAnalytics>('GET', '/v1/analytics/factors', { args, answer: 'FactorAnalytics' }, options)
  }
}

export class AnalyticsMandateSpendMethods extends Group {
  /**
   * Report what was spent under mandates, by period of their budgets.
   *
   * Adds up the executions of the ledger. An execution counts at its own time, under the mandate of its token and not
   * under the mandate's parents; an amount that its outcome gave back is `released`. A range of more than 25,000
   * executions is refused with `range_too_large`: ask for shorter ones. See
   * [reports](https://api.example.test/docs/authorize/reports).
   *
   * Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ReportMandateSpendQuery, options?: CallOptions): Pages<MandateSpend, MandateSpendList> {
    return this.callPages<MandateSpend, MandateSpendList>('/v1/analytics/mandate-spend', { args, answer: 'flat' }, options)
  }
}

export class AnalyticsUnexecutedMethods extends Group {
  /**
   * List tokens that were issued and never executed, newest first.
   *
   * Lists tokens of the range that no verification has executed, each with its last verification. Choose a `to` so long
   * ago that the tokens have expired. A page reads a bounded number of authorizations: it may have fewer than `limit`,
   * or none, and still a `next_cursor`. See [reports](https://api.example.test/docs/authorize/reports).
   *
   * Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ReportUnexecutedQuery, options?: CallOptions): Pages<UnexecutedIntent, UnexecutedIntentList> {
    return this.callPages<UnexecutedIntent, UnexecutedIntentList>('/v1/analytics/unexecuted', { args, answer: 'UnexecutedIntent' }, options)
  }
}

export class AnalyticsMethods extends Group {
  readonly approvals: AnalyticsApprovalsMethods
  readonly claims: AnalyticsClaimsMethods
  readonly decisions: AnalyticsDecisionsMethods
  readonly factors: AnalyticsFactorsMethods
  readonly mandateSpend: AnalyticsMandateSpendMethods
  readonly unexecuted: AnalyticsUnexecutedMethods

  constructor(transport: Transport) {
    super(transport)
    this.approvals = new AnalyticsApprovalsMethods(transport)
    this.claims = new AnalyticsClaimsMethods(transport)
    this.decisions = new AnalyticsDecisionsMethods(transport)
    this.factors = new AnalyticsFactorsMethods(transport)
    this.mandateSpend = new AnalyticsMandateSpendMethods(transport)
    this.unexecuted = new AnalyticsUnexecutedMethods(transport)
  }

}

export class ApprovalsChallengesMethods extends Group {
  /**
   * Ask for a challenge for the passkey of a person who approves.
   *
   * The browser of the person who approves passes it to `navigator.credentials.get`. The challenge is the hash of the
   * action and of this approval. It works once, within 120 seconds.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(approvalId: string, options?: CallOptions): Call<PasskeyChallenge> {
    return this.callJson<PasskeyChallenge>('POST', path`/v1/approvals/${approvalId}/challenge`, { answer: 'flat' }, options)
  }
}

export class ApprovalsMethods extends Group {
  readonly challenges: ApprovalsChallengesMethods

  constructor(transport: Transport) {
    super(transport)
    this.challenges = new ApprovalsChallengesMethods(transport)
  }

  /**
   * Approve the action of an agent, once for each person.
   *
   * Each person counts once. When enough people have approved, the same token verifies valid. An API key names the
   * person for whom it votes, has one vote for each approval, and never decides what it authorized; in live, keys decide
   * nothing unless the policy has `approvals.require_human_session: false`. When that is turned on later, or the key is
   * revoked, the vote of the key does not count any more, and its person decides again. The answer is 409
   * `approval_already_decided` where the approval has ended, and for a second decision of a person or of a key.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  approve(approvalId: string, args?: ApproveActionRequest, options?: CallOptions): Call<Approval> {
    return this.callJson<Approval>('POST', path`/v1/approvals/${approvalId}/approve`, { args, body: 'ApproveActionRequest', answer: 'Approval' }, options)
  }

  /**
   * Deny the action of an agent, which ends its approval.
   *
   * One denial ends the approval, however many have approved before. The token never verifies valid after it.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  deny(approvalId: string, args: DenyActionRequest, options?: CallOptions): Call<Approval> {
    return this.callJson<Approval>('POST', path`/v1/approvals/${approvalId}/deny`, { args, body: 'DenyActionRequest', answer: 'Approval' }, options)
  }

  /**
   * List approvals, newest first.
   *
   * `status=pending` lists approvals that wait for people, and `awaiting=me` lists approvals that wait for the signed-in
   * person: their role may decide, separation of duties does not exclude them, and they have no vote that counts.
   * Whether an approval has expired follows from the time of the request, not from a job that might be late. Only GET
   * /v1/approvals/{id} has the payload of an action, the descriptions of its rules and more than 20 rules.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListApprovalsQuery, options?: CallOptions): Pages<ApprovalSummary, ApprovalSummaryList> {
    return this.callPages<ApprovalSummary, ApprovalSummaryList>('/v1/approvals', { args, answer: 'ApprovalSummary' }, options)
  }

  /**
   * Read one approval with its whole action; with `wait`, when it has ended.
   *
   * With `wait`, the service answers when the approval has ended, or when the seconds are over: read `status`. Verify
   * answers the same: `approval_pending`, `approval_denied` or `approval_expired`.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(approvalId: string, args?: GetApprovalQuery, options?: CallOptions): Call<Approval> {
    return this.callJson<Approval>('GET', path`/v1/approvals/${approvalId}`, { args, answer: 'Approval' }, options)
  }
}

export class AuthMagicLinksMethods extends Group {
  /**
   * Ask for a link that signs in. The answer is the same whether the address has an account or not.
   *
   * A link works once, for 10 minutes, beside earlier ones of the address; the first that is used voids the others. A
   * mail is sent to known addresses, and to unknown addresses where people may sign up; the answer does not show which.
   * A network, and a browser that signed in to the address before, may ask five times in 15 minutes for it. Beyond other
   * limits (see the guide Login) the answer is the same, and no mail is sent. `Idempotency-Key` is ignored.
   *
   * No key is needed. A person who signs in has no session yet.
   */
  create(args: RequestMagicLinkRequest, options?: CallOptions): Call<MagicLinkRequested> {
    return this.callJson<MagicLinkRequested>('POST', '/v1/auth/magic-link', { args, body: 'flat', answer: 'flat', isOnce: true }, options)
  }

  /**
   * Sign in with the token of a link. It works once.
   *
   * Sets the session cookie, the readable cookie `svc_csrf`, and `svc_browser`, by which limits on links recognize the
   * browser later. Tokens that do not sign in are limited, and one that works is always accepted. A link that does not
   * work is `invalid_request` at `/token`, whatever the reason. `Idempotency-Key` is ignored: a token works once.
   *
   * No key is needed. The token is the credential.
   */
  verify(args: VerifyMagicLinkRequest, options?: CallOptions): Call<Session> {
    return this.callJson<Session>('POST', '/v1/auth/magic-link/verify', { args, body: 'flat', answer: 'Session', isOnce: true }, options)
  }
}

export class AuthScimTokensMethods extends Group {
  /**
   * Make a token for the directory of the organization.
   *
   * The token is shown once. It calls /v1/scim/v2 and nothing else. Two of an account are live at a time, so that one
   * replaces the other without an interruption.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  create(options?: CallOptions): Call<CreatedScimToken> {
    return this.callJson<CreatedScimToken>('POST', '/v1/auth/scim-tokens', { answer: 'CreatedScimToken' }, options)
  }

  /**
   * Revoke a token of a directory: its next request is refused.
   *
   * Revoking a revoked token changes nothing.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. A rate limit of its own, for emergencies.
   */
  delete(scimTokenId: string, options?: CallOptions): Call<ScimToken> {
    return this.callJson<ScimToken>('DELETE', path`/v1/auth/scim-tokens/${scimTokenId}`, { answer: 'ScimToken' }, options)
  }

  /**
   * List the tokens of directories, newest first.
   *
   * Revoked ones too.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  list(args?: ListScimTokensQuery, options?: CallOptions): Pages<ScimToken, ScimTokenList> {
    return this.callPages<ScimToken, ScimTokenList>('/v1/auth/scim-tokens', { args, answer: 'ScimToken' }, options)
  }
}

export class AuthSessionMethods extends Group {
  /**
   * Sign out: end the session of this browser.
   *
   * The cookies are cleared; the session can’t be used again.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  delete(options?: CallOptions): Call<EndedSession> {
    return this.callJson<EndedSession>('DELETE', '/v1/auth/session', { answer: 'flat' }, options)
  }

  /**
   * Describe this credential: the scopes and limits of a key, or the user, permissions and CSRF token of a session.
   *
   * Takes any key, whatever its scopes, and a session. Programs call it first to learn the account, the environment and
   * what the key may do. A session ends 12 hours after it began, and after an hour without a request.
   *
   * Any API key. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(options?: CallOptions): Call<Credential> {
    return this.callJson<Credential>('GET', '/v1/auth/session', { answer: 'Credential' }, options)
  }
}

export class AuthSessionsMethods extends Group {
  /**
   * End one of your sessions.
   *
   * Ending a session that has ended changes nothing.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  delete(sessionId: string, options?: CallOptions): Call<EndedSession> {
    return this.callJson<EndedSession>('DELETE', path`/v1/auth/sessions/${sessionId}`, { answer: 'flat' }, options)
  }

  /**
   * Sign out everywhere: end all of your sessions, this one too.
   *
   * Use this for a lost device, or after another person got a link.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer. A rate limit of its own, for
   * emergencies.
   */
  deleteAll(options?: CallOptions): Call<EndedSessions> {
    return this.callJson<EndedSessions>('DELETE', '/v1/auth/sessions', { answer: 'flat' }, options)
  }

  /**
   * List your own sessions that have not ended, newest first.
   *
   * Lists sessions of the signed-in user only, in every browser.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListSessionsQuery, options?: CallOptions): Pages<OpenSession, OpenSessionList> {
    return this.callPages<OpenSession, OpenSessionList>('/v1/auth/sessions', { args, answer: 'flat' }, options)
  }
}

export class AuthSsoMethods extends Group {
  /**
   * Remove the identity provider: users sign in by mailed links again.
   *
   * Sessions go on. Users are no longer linked to the provider; all owners are told by mail.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  delete(options?: CallOptions): Call<DeletedSsoConfig> {
    return this.callJson<DeletedSsoConfig>('DELETE', '/v1/auth/sso/config', { answer: 'flat' }, options)
  }

  /**
   * The identity provider of the account.
   *
   * The client secret is not shown again. The guide Single sign-on has the fields of each provider.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  retrieve(options?: CallOptions): Call<SsoConfig> {
    return this.callJson<SsoConfig>('GET', '/v1/auth/sso/config', { answer: 'SsoConfig' }, options)
  }

  /**
   * Connect an identity provider, or change it.
   *
   * The discovery document of the issuer is read at once, and must name this issuer. A change of issuer, client or
   * domain ends `tested_at` and `enforce_sso`, and all owners are told by mail; another issuer or client is another
   * provider, to which no user is linked. `enforce_sso` needs a first login (`not_ready` before).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  update(args: UpdateSsoConfigRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<SsoConfig> {
    return this.callJson<SsoConfig>('PUT', '/v1/auth/sso/config', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'SsoConfig' }, options)
  }

  /**
   * Look for the TXT record that proves the domain.
   *
   * Looks for the TXT record `domain_record`; `not_ready` says what is missing. The record is looked up daily from then
   * on: three days without it end the verification. A domain has one organization; claims that are not verified block
   * nobody.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  verifyDomain(options?: CallOptions): Call<SsoConfig> {
    return this.callJson<SsoConfig>('POST', '/v1/auth/sso/config/verify-domain', { answer: 'SsoConfig' }, options)
  }
}

export class AuthMethods extends Group {
  readonly magicLinks: AuthMagicLinksMethods
  readonly scimTokens: AuthScimTokensMethods
  readonly session: AuthSessionMethods
  readonly sessions: AuthSessionsMethods
  readonly sso: AuthSsoMethods

  constructor(transport: Transport) {
    super(transport)
    this.magicLinks = new AuthMagicLinksMethods(transport)
    this.scimTokens = new AuthScimTokensMethods(transport)
    this.session = new AuthSessionMethods(transport)
    this.sessions = new AuthSessionsMethods(transport)
    this.sso = new AuthSsoMethods(transport)
  }

}

export class CasesCountsMethods extends Group {
  /**
   * Count cases by status.
   *
   * Each count stops at 100,000, as totals of lists do.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(args?: CountCasesQuery, options?: CallOptions): Call<CaseCounts> {
    return this.callJson<CaseCounts>('GET', '/v1/cases/counts', { args, answer: 'CaseCounts' }, options)
  }
}

export class CasesEntriesMethods extends Group {
  /**
   * Read the history of a case, newest first.
   *
   * Each change is one entry of the history, which is append-only.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(caseId: string, args?: ListCaseEntriesQuery, options?: CallOptions): Pages<CaseEntry, CaseEntryList> {
    return this.callPages<CaseEntry, CaseEntryList>(path`/v1/cases/${caseId}/entries`, { args, answer: 'CaseEntry' }, options)
  }
}

export class CasesNotesMethods extends Group {
  /**
   * Add a note to the history of a case.
   *
   * A closed case takes notes too. Erasing the claim deletes the notes, and no more are accepted.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(caseId: string, args: AddCaseNoteRequest, options?: CallOptions): Call<Case> {
    return this.callJson<Case>('POST', path`/v1/cases/${caseId}/notes`, { args, body: 'flat', answer: 'Case' }, options)
  }
}

export class CasesMethods extends Group {
  readonly counts: CasesCountsMethods
  readonly entries: CasesEntriesMethods
  readonly notes: CasesNotesMethods

  constructor(transport: Transport) {
    super(transport)
    this.counts = new CasesCountsMethods(transport)
    this.entries = new CasesEntriesMethods(transport)
    this.notes = new CasesNotesMethods(transport)
  }

  /**
   * Open a case for a claim that has no open one.
   *
   * A claim that becomes `failed` gets a case automatically; use this route for other claims. A claim has at most one
   * open case: opening a second is 409 with `case_id`.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(args: OpenCaseRequest, options?: CallOptions): Call<Case> {
    return this.callJson<Case>('POST', '/v1/cases', { args, body: 'flat', answer: 'Case' }, options)
  }

  /**
   * List cases, newest first or by due date.
   *
   * A case must match all filters, and any of several values of one filter. `order_by=due` with `order=asc` begins with
   * the case that is due first. `overdue=true` lists cases whose due date has passed. `due_lt` lists cases that are due
   * before a time; for a paused case this is the date that it would have if the pause ended now. `claim_changed=true`
   * lists closed cases whose claim has changed its standing since.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListCasesQuery, options?: CallOptions): Pages<Case, CaseList> {
    return this.callPages<Case, CaseList>('/v1/cases', { args, answer: 'Case' }, options)
  }

  /**
   * Read one case.
   *
   * `allowed` has the statuses that the case can change to. Its history is at `GET /v1/cases/{id}/entries`.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(caseId: string, options?: CallOptions): Call<Case> {
    return this.callJson<Case>('GET', path`/v1/cases/${caseId}`, { answer: 'Case' }, options)
  }

  /**
   * Change the status of a case.
   *
   * A transition that is not in the table, or whose reason does not hold, is 409 `invalid_state_transition` with the
   * `allowed` statuses. Send the `version` that you read: if the case was changed meanwhile, the answer is 409 too. A
   * denial for `suspected_fraud` takes two people: the first request is answered 202 and changes no status, and the
   * second, by another `actor`, denies the case.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  transition(caseId: string, args: TransitionCaseRequest, options?: CallOptions): Call<Case> {
    return this.callJson<Case>('POST', path`/v1/cases/${caseId}/transitions`, { args, body: 'flat', answer: 'Case' }, options)
  }

  /**
   * Change the assignee, the priority or the due date of a case.
   *
   * Equal values change nothing. A closed case is 409.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  update(caseId: string, args?: UpdateCaseRequest, options?: CallOptions): Call<Case> {
    return this.callJson<Case>('PATCH', path`/v1/cases/${caseId}`, { args, body: 'flat', answer: 'Case' }, options)
  }
}

export class ClaimsAttestationsMethods extends Group {
  /**
   * List the attestations of a claim with their submissions, newest first.
   *
   * Each attestation has its submission, so that you can check the signature again.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(claimId: string, args?: ListAttestationsQuery, options?: CallOptions): Pages<SubmittedAttestation, SubmittedAttestationList> {
    return this.callPages<SubmittedAttestation, SubmittedAttestationList>(path`/v1/claims/${claimId}/attestations`, { args, answer: 'SubmittedAttestation' }, options)
  }

  /**
   * List earlier results of an attestation, which later results replaced, newest first.
   *
   * The list is empty while the first result is valid. The current result is in the attestation; the factors of earlier
   * results are in their `result_jws`.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listResults(attestationId: string, args?: ListReplacedResultsQuery, options?: CallOptions): Pages<ReplacedResult, ReplacedResultList> {
    return this.callPages<ReplacedResult, ReplacedResultList>(path`/v1/attestations/${attestationId}/results`, { args, answer: 'ReplacedResult' }, options)
  }

  /**
   * Read one attestation, with its result once it is evaluated.
   *
   * With `wait` the service answers when the evaluation has ended, or when the time is over.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(attestationId: string, args?: GetAttestationQuery, options?: CallOptions): Call<Attestation> {
    return this.callJson<Attestation>('GET', path`/v1/attestations/${attestationId}`, { args, answer: 'Attestation' }, options)
  }

  /**
   * Restart a failed evaluation, or submit a cancelled capture again.
   *
   * Takes an attestation whose `status` is `failed` (`failure.detail` says why) or `cancelled`. A cancelled capture
   * counts as submitted now. Other statuses are 409, and so is a cancelled capture that was submitted again meanwhile.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  retry(attestationId: string, options?: CallOptions): Call<Attestation> {
    return this.callJson<Attestation>('POST', path`/v1/attestations/${attestationId}/retry`, { answer: 'Attestation' }, options)
  }
}

export class ClaimsBatchesMethods extends Group {
  /**
   * Cancel the lines that have not started.
   *
   * Running evaluations continue to their end. `cancelled` counts the lines that this call cancelled. A capture that was
   * cancelled before its evaluation counts as never submitted: its `external_id` and its session nonce are free, and it
   * may be submitted or retried.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  cancel(batchId: string, options?: CallOptions): Call<CancelledBatch> {
    return this.callJson<CancelledBatch>('POST', path`/v1/claims/batches/${batchId}/cancel`, { answer: 'CancelledBatch' }, options)
  }

  /**
   * Submit up to 10,000 captures, one JSON value per line or one array; upload their media before.
   *
   * Each value is a body of POST /v1/claims/attest whose media are uploaded already. A line may have 64 KiB, the body
   * 256 MiB, and an array 20 MiB. A bad line does not affect the others; an incomplete body stores nothing.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  create(items: Items<BatchLine>, options?: CallOptions): Call<SubmittedBatch> {
    return this.callBatch<SubmittedBatch>('/v1/claims/batches', items, { body: 'BatchLine', answer: 'SubmittedBatch' }, options)
  }

  /**
   * List batches, newest first.
   *
   * The list has summaries. Read one batch for its risks, its rate and its expected end.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListBatchesQuery, options?: CallOptions): Pages<BatchSummary, BatchSummaryList> {
    return this.callPages<BatchSummary, BatchSummaryList>('/v1/claims/batches', { args, answer: 'BatchSummary' }, options)
  }

  /**
   * List the refused lines of a batch, in the order of the input.
   *
   * The lines are the same as in the answer to the upload.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listRejected(batchId: string, args?: ListRejectedLinesQuery, options?: CallOptions): Pages<RejectedLine, RejectedLineList> {
    return this.callPages<RejectedLine, RejectedLineList>(path`/v1/claims/batches/${batchId}/rejected`, { args, answer: 'RejectedLine' }, options)
  }

  /**
   * Download the results, one per accepted line in the order of the input; the last line has the cursor to continue.
   *
   * The download ends before the first line that has not ended; with `include=pending` it continues. Each line has a
   * `cursor` to resume after it. The last line is `{"object": "cursor", "next_cursor": .., "is_complete": ...}`: without
   * it the download is incomplete.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  results(batchId: string, args?: DownloadBatchResultsQuery, options?: CallOptions): Lines<DownloadBatchResultsResponseLine> {
    return this.callLines<DownloadBatchResultsResponseLine>(path`/v1/claims/batches/${batchId}/results`, { args, answer: 'BatchResult' }, options)
  }

  /**
   * Read the progress of a batch, and its findings so far.
   *
   * The batch is done when `settled` equals `accepted`. With `wait` the service answers then, or when the time is over.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(batchId: string, args?: GetBatchQuery, options?: CallOptions): Call<Batch> {
    return this.callJson<Batch>('GET', path`/v1/claims/batches/${batchId}`, { args, answer: 'Batch' }, options)
  }
}

export class ClaimsCapturesMethods extends Group {
  /**
   * Issue nonces for future captures: each nonce binds one capture to the ten minutes after its issue.
   *
   * A nonce in a bundle proves that the capture is younger than the nonce. It is valid for one capture, taken from 5
   * minutes before `issued_at` to 5 minutes after `expires_at`; the submission itself may come up to 30 days later.
   * Fetch a few while there is a network.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateCaptureSessionsRequest, options?: CallOptions): Call<IssuedSessions> {
    return this.callJson<IssuedSessions>('POST', '/v1/claims/attest/sessions', { args, body: 'flat', answer: 'IssuedSessions' }, options)
  }

  /**
   * List capture sessions without their nonces, newest first.
   *
   * Filters by status, device or time of issue. A session is listed for 31 days after it expired; nonces are shown only
   * when they are issued.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListCaptureSessionsQuery, options?: CallOptions): Pages<CaptureSession, CaptureSessionList> {
    return this.callPages<CaptureSession, CaptureSessionList>('/v1/claims/attest/sessions', { args, answer: 'flat' }, options)
  }

  /**
   * Read which chunks of a streamed capture have arrived.
   *
   * A phone calls this after a lost connection or a restart: `next_index` is the next chunk to send, and `received` has
   * the indices that have arrived, as runs. The nonce is not shown again.
   *
   * Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(captureSessionId: string, options?: CallOptions): Call<CaptureStream> {
    return this.callJson<CaptureStream>('GET', path`/v1/claims/attest/sessions/${captureSessionId}`, { answer: 'CaptureStream' }, options)
  }

  /**
   * Send one chunk of a video while it is recorded.
   *
   * The body is the raw bytes of one chunk, 64 MiB at most. Chunks may come in any order; chunk 0 begins the file.
   * Sending the same bytes again keeps the chunk and its arrival time; other bytes are 409. Send `Content-Digest` to
   * have a damaged transfer refused. After the session is submitted (`media: {"capture_session_id": ..}`), no more
   * chunks are accepted. Unsubmitted chunks are deleted after 7 days.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  uploadChunk(captureSessionId: string, index: number, body: Uploadable, args?: {
      contentType?: 'video/mp4' | 'video/quicktime' | 'video/webm' | undefined
      /** `sha-256=:<base64>:` (RFC 9530) of the chunk. */
      contentDigest?: string | undefined
    }, options?: UploadOptions): Call<Chunk> {
    return this.callUpload<Chunk>(['PUT', path`/v1/claims/attest/sessions/${captureSessionId}/chunks/${index}`], body, { args, headers: { contentDigest: 'Content-Digest' }, answer: 'flat' }, options)
  }
}

export class ClaimsDuplicatesMethods extends Group {
  /**
   * List other claims that show the same pictures.
   *
   * Lists other claims of the account that show the same bytes, or a picture whose 64-bit perceptual hash differs in six
   * bits or less and whose greys are the same block by block. The search runs after the evaluation: `pending` means that
   * it has not run yet.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(claimId: string, args?: ListDuplicatesQuery, options?: CallOptions): Pages<DuplicateFindings, DuplicateFindingsList> {
    return this.callPages<DuplicateFindings, DuplicateFindingsList>(path`/v1/claims/${claimId}/duplicates`, { args, answer: 'DuplicateFindings' }, options)
  }
}

export class ClaimsEvidenceMethods extends Group {
  /**
   * The evidence packet as a PDF document, for people.
   *
   * The packet has the submissions, the findings, the certificates of the devices, and what people decided and when. It
   * is signed as a whole and part by part, so that `npm run evidence -- verify FILE` can check it offline. The PDF is a
   * document to read, with the same packet as an attachment. A packet has at most 100 attestations, newest first;
   * `next_cursor` leads to older ones. Keys without the scope `escalate` get no notes of adjusters. Each export is
   * logged.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  download(claimId: string, args?: ExportEvidenceQuery, options?: CallOptions): Call<Response> {
    return this.callBytes(path`/v1/claims/${claimId}/evidence`, { args, accept: 'application/pdf' }, options)
  }

  /**
   * Export everything known about a claim in one signed packet, as JSON or as a PDF that contains it.
   *
   * The packet has the submissions, the findings, the certificates of the devices, and what people decided and when. It
   * is signed as a whole and part by part, so that `npm run evidence -- verify FILE` can check it offline. The PDF is a
   * document to read, with the same packet as an attachment. A packet has at most 100 attestations, newest first;
   * `next_cursor` leads to older ones. Keys without the scope `escalate` get no notes of adjusters. Each export is
   * logged.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(claimId: string, args?: ExportEvidenceQuery, options?: CallOptions): Call<SignedEvidencePacket> {
    return this.callJson<SignedEvidencePacket>('GET', path`/v1/claims/${claimId}/evidence`, { args, answer: 'flat' }, options)
  }
}

export class ClaimsTimelineMethods extends Group {
  /**
   * Read what happened to a claim, newest first.
   *
   * The timeline has captures and their results, earlier results too, the steps of cases, and the events about the
   * claim. Events are kept for a limited time, so old ones may be missing.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(claimId: string, args?: ListClaimTimelineQuery, options?: CallOptions): Pages<ClaimMoment, ClaimMomentList> {
    return this.callPages<ClaimMoment, ClaimMomentList>(path`/v1/claims/${claimId}/timeline`, { args, answer: 'ClaimMoment' }, options)
  }
}

export class ClaimsMethods extends Group {
  readonly attestations: ClaimsAttestationsMethods
  readonly batches: ClaimsBatchesMethods
  readonly captures: ClaimsCapturesMethods
  readonly duplicates: ClaimsDuplicatesMethods
  readonly evidence: ClaimsEvidenceMethods
  readonly timeline: ClaimsTimelineMethods

  constructor(transport: Transport) {
    super(transport)
    this.attestations = new ClaimsAttestationsMethods(transport)
    this.batches = new ClaimsBatchesMethods(transport)
    this.captures = new ClaimsCapturesMethods(transport)
    this.duplicates = new ClaimsDuplicatesMethods(transport)
    this.evidence = new ClaimsEvidenceMethods(transport)
    this.timeline = new ClaimsTimelineMethods(transport)
  }

  /**
   * Submit one signed capture and wait for its evaluation.
   *
   * The signature covers the canonical form (RFC 8785) of `bundle`: see the
   * [guide](https://api.example.test/docs/attest/integrate). A fault of the capture is not an error: a bad signature or
   * a used nonce is a factor of a result with status 200. The same `external_id` with the same content is the same
   * attestation, without a time limit.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  attest(args: AttestClaimRequest & {
      /**
       * `wait=N`: seconds to wait for the evaluation, 0 to 30; 10 when absent (RFC 7240). Preference-Applied in the answer
       * says what was applied.
       */
      wait?: number | undefined
    }, options?: CallOptions): Call<Attestation> {
    return this.callJson<Attestation>('POST', '/v1/claims/attest', { args, body: 'AttestClaimRequest', answer: 'Attestation', wait: 'prefer' }, options)
  }

  /**
   * Erase the media and positions of a claim permanently; hashes and signed results stay.
   *
   * The erasure is immediate and permanent: media, thumbnails and positions are deleted; hashes, factors and
   * `result_jws` stay. Later captures with the same reference are 409. A 503 says that not all bytes are deleted yet:
   * send the request again.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  erase(claimId: string, options?: CallOptions): Call<Claim> {
    return this.callJson<Claim>('DELETE', path`/v1/claims/${claimId}`, { answer: 'Claim' }, options)
  }

  /**
   * List claims, newest first, or by score or update.
   *
   * All captures with one `claim.reference` are one claim. The claim has the highest score, the worst provenance and all
   * codes of its captures. A claim must match all filters. `device_id` finds claims with captures that name the device
   * or are signed by its key. `order_by=updated` puts the claim that changed last first; a claim that changes while the
   * pages are read may appear twice.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListClaimsQuery, options?: CallOptions): Pages<Claim, ClaimList> {
    return this.callPages<Claim, ClaimList>('/v1/claims', { args, answer: 'Claim' }, options)
  }

  /**
   * Read one claim.
   *
   * Its captures are at `GET /v1/claims/{id}/attestations`.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(claimId: string, options?: CallOptions): Call<Claim> {
    return this.callJson<Claim>('GET', path`/v1/claims/${claimId}`, { answer: 'Claim' }, options)
  }
}

export class ClinicalExclusionImportsMethods extends Group {
  /**
   * List imports of exclusion lists, newest first.
   *
   * Imports of the account. Those of the operator are not among them.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(args?: ListExclusionImportsQuery, options?: CallOptions): Pages<ExclusionImport, ExclusionImportList> {
    return this.callPages<ExclusionImport, ExclusionImportList>('/v1/clinical/exclusion-imports', { args, answer: 'ExclusionImport' }, options)
  }

  /**
   * Read the status of an import, and why a file was refused.
   *
   * With `wait`, it answers when the import has ended.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieve(exclusionImportId: string, args?: GetExclusionImportQuery, options?: CallOptions): Call<ExclusionImport> {
    return this.callJson<ExclusionImport>('GET', path`/v1/clinical/exclusion-imports/${exclusionImportId}`, { args, answer: 'ExclusionImport' }, options)
  }
}

export class ClinicalExclusionListsMethods extends Group {
  /**
   * Upload a file of LEIE (CSV, or ZIP with one CSV; up to 200 MB).
   *
   * The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in force
   * ends the import as failed, and the list stays. See the
   * [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  importLeie(body: Uploadable, args?: ImportLeieQuery & {
      contentType?: 'text/csv' | 'application/zip' | 'application/octet-stream' | undefined
    }, options?: UploadOptions): Call<ExclusionImport> {
    return this.callUpload<ExclusionImport>(['POST', '/v1/clinical/exclusion-lists/leie/import'], body, { args, answer: 'ExclusionImport' }, options)
  }

  /**
   * Upload a file of SAM (CSV, or ZIP with one CSV; up to 200 MB).
   *
   * The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in force
   * ends the import as failed, and the list stays. See the
   * [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  importSam(body: Uploadable, args?: ImportSamQuery & {
      contentType?: 'text/csv' | 'application/zip' | 'application/octet-stream' | undefined
    }, options?: UploadOptions): Call<ExclusionImport> {
    return this.callUpload<ExclusionImport>(['POST', '/v1/clinical/exclusion-lists/sam/import'], body, { args, answer: 'ExclusionImport' }, options)
  }

  /**
   * Read which file of LEIE is in force.
   *
   * The file that prescribers are compared with: the account’s own, or else the operator’s. See the
   * [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieveLeie(options?: CallOptions): Call<ExclusionList> {
    return this.callJson<ExclusionList>('GET', '/v1/clinical/exclusion-lists/leie', { answer: 'flat' }, options)
  }

  /**
   * Read which file of SAM is in force.
   *
   * The file that prescribers are compared with: the account’s own, or else the operator’s. See the
   * [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieveSam(options?: CallOptions): Call<ExclusionList> {
    return this.callJson<ExclusionList>('GET', '/v1/clinical/exclusion-lists/sam', { answer: 'flat' }, options)
  }
}

export class ClinicalExclusionReviewsMethods extends Group {
  /**
   * Clear or confirm a review.
   *
   * The decision holds for the prescriber and the row, in later files too. The opposite decision replaces it. A match by
   * NPI, or by name and birth date, excludes whatever was decided.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  decide(exclusionReviewId: string, args: DecideExclusionReviewRequest, options?: CallOptions): Call<ExclusionReview> {
    return this.callJson<ExclusionReview>('POST', path`/v1/clinical/exclusion-reviews/${exclusionReviewId}/decision`, { args, body: 'flat', answer: 'ExclusionReview' }, options)
  }

  /**
   * List rows of exclusion lists that may be a prescriber’s, newest first.
   *
   * Matches by the name, which a person has to clear or confirm.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(args?: ListExclusionReviewsQuery, options?: CallOptions): Pages<ExclusionReview, ExclusionReviewList> {
    return this.callPages<ExclusionReview, ExclusionReviewList>('/v1/clinical/exclusion-reviews', { args, answer: 'ExclusionReview' }, options)
  }

  /**
   * Read one review.
   *
   * The row is found in the published list by the name of the prescriber.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieve(exclusionReviewId: string, options?: CallOptions): Call<ExclusionReview> {
    return this.callJson<ExclusionReview>('GET', path`/v1/clinical/exclusion-reviews/${exclusionReviewId}`, { answer: 'ExclusionReview' }, options)
  }
}

export class ClinicalExclusionScreeningsMethods extends Group {
  /**
   * List comparisons of all prescribers with the exclusion lists, newest first.
   *
   * All prescribers are compared after each import, after changes of prescribers, and once a day. It informs: an order
   * is always compared with the lists in force itself.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(args?: ListExclusionScreeningsQuery, options?: CallOptions): Pages<ExclusionScreening, ExclusionScreeningList> {
    return this.callPages<ExclusionScreening, ExclusionScreeningList>('/v1/clinical/exclusion-screenings', { args, answer: 'ExclusionScreening' }, options)
  }

  /**
   * List prescribers whose status a screening found changed.
   *
   * Statuses without regard to waivers, which hold in one state only.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  listChanges(exclusionScreeningId: string, args?: ListExclusionChangesQuery, options?: CallOptions): Pages<ExclusionChange, ExclusionChangeList> {
    return this.callPages<ExclusionChange, ExclusionChangeList>(path`/v1/clinical/exclusion-screenings/${exclusionScreeningId}/changes`, { args, answer: 'ExclusionChange' }, options)
  }
}

export class ClinicalFactChallengesMethods extends Group {
  /**
   * Ask for a challenge for the passkey of the person who confirms facts.
   *
   * For the passkeys of the signed-in person, for two minutes, once, and for exactly these facts. Refused at once where
   * the person may not confirm them.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  create(prescriberId: string, args: CreatePrescriberFactChallengeRequest, options?: CallOptions): Call<PasskeyChallenge> {
    return this.callJson<PasskeyChallenge>('POST', path`/v1/clinical/prescribers/${prescriberId}/facts/challenge`, { args, body: 'flat', answer: 'flat' }, options)
  }
}

export class ClinicalFactsMethods extends Group {
  /**
   * Confirm facts about a prescriber as the second person, with a passkey.
   *
   * A prescriber of tier 3 confirms, or an owner while no other prescriber has tier 3; never the person who entered a
   * fact, and never the prescriber. All facts are confirmed, or none.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  confirm(prescriberId: string, args: ConfirmPrescriberFactsRequest, options?: CallOptions): Call<ConfirmedPrescriberFacts> {
    return this.callJson<ConfirmedPrescriberFacts>('POST', path`/v1/clinical/prescribers/${prescriberId}/facts/confirm`, { args, body: 'ConfirmPrescriberFactsRequest', answer: 'ConfirmedPrescriberFacts' }, options)
  }

  /**
   * Enter what was checked about a prescriber: identity, licence or DEA registration.
   *
   * Counts for tiers 1 and 2 at once, and for tier 3 when a second person has confirmed it. `warnings` tells of what is
   * unusual and may be right.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(prescriberId: string, args: CreatePrescriberFactRequest, options?: CallOptions): Call<PrescriberFact> {
    return this.callJson<PrescriberFact>('POST', path`/v1/clinical/prescribers/${prescriberId}/facts`, { args, body: 'flat', answer: 'PrescriberFact' }, options)
  }

  /**
   * End a fact about a prescriber, from the next decision on.
   *
   * One person suffices. A fact that has ended stays as it is.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate limit of
   * its own, for emergencies.
   */
  end(prescriberId: string, factId: string, args: EndPrescriberFactRequest, options?: CallOptions): Call<PrescriberFact> {
    return this.callJson<PrescriberFact>('POST', path`/v1/clinical/prescribers/${prescriberId}/facts/${factId}/end`, { args, body: 'flat', answer: 'PrescriberFact' }, options)
  }

  /**
   * List what was checked about a prescriber, newest first.
   *
   * Includes facts that have expired or were ended.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(prescriberId: string, args?: ListPrescriberFactsQuery, options?: CallOptions): Pages<PrescriberFact, PrescriberFactList> {
    return this.callPages<PrescriberFact, PrescriberFactList>(path`/v1/clinical/prescribers/${prescriberId}/facts`, { args, answer: 'PrescriberFact' }, options)
  }
}

export class ClinicalFormularyMethods extends Group {
  /**
   * Read which formulary is in force, with its version as ETag.
   *
   * `version` 0 is an empty formulary. `digest` is that of the object of all concepts and their schedules.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<ClinicalFormulary> {
    return this.callJson<ClinicalFormulary>('GET', '/v1/clinical/formulary', { answer: 'ClinicalFormulary' }, options)
  }

  /**
   * Replace the formulary by a CSV file with the columns rxcui and schedule.
   *
   * A first line `rxcui,schedule`, then a line for each concept, at most 50,000: the schedule is `none`, `I`, `II`,
   * `III`, `IV` or `V`. Everything is replaced, or nothing. Pointers of errors count the lines after the first, from 1.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(body: Uploadable, args: {
      contentType?: 'text/csv' | undefined
      /** Required. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch: string
    }, options?: UploadOptions): Call<ClinicalFormulary> {
    return this.callUpload<ClinicalFormulary>(['PUT', '/v1/clinical/formulary'], body, { args, headers: { ifMatch: 'If-Match' }, answer: 'ClinicalFormulary' }, options)
  }
}

export class ClinicalFormularyEntriesMethods extends Group {
  /**
   * List the concepts of the formulary, in the order of their ids.
   *
   * NDJSON has the whole formulary.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListFormularyEntriesQuery, options?: CallOptions): Pages<FormularyEntry, FormularyEntryList> {
    return this.callPages<FormularyEntry, FormularyEntryList>('/v1/clinical/formulary/entries', { args, answer: 'flat' }, options)
  }
}

export class ClinicalIncidentReportsMethods extends Group {
  /**
   * List the daily incident reports of clinician orders, newest first.
   *
   * One for each day in UTC from the first prescriber on, also where nothing happened; kept for two years. As NDJSON,
   * all of them. See the [guide](https://api.example.test/docs/authorize/clinical#orders).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListIncidentReportsQuery, options?: CallOptions): Pages<IncidentReport, IncidentReportList> {
    return this.callPages<IncidentReport, IncidentReportList>('/v1/clinical/incident-reports', { args, answer: 'IncidentReport' }, options)
  }

  /**
   * Read the incident report of one day.
   *
   * It is written soon after midnight in UTC, and never changes.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(day: string, options?: CallOptions): Call<IncidentReport> {
    return this.callJson<IncidentReport>('GET', path`/v1/clinical/incident-reports/${day}`, { answer: 'IncidentReport' }, options)
  }
}

export class ClinicalOrderChallengesMethods extends Group {
  /**
   * Ask for a challenge for the passkey of a signer, with everything that the signer has to see.
   *
   * For two minutes, once, for this act and exactly this content. Show the signer the order, the prescriber and the
   * statement; compare `order_hash` with the hash of what you show. A key gets a challenge for the passkeys of every
   * user.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  create(orderId: string, args: CreateOrderChallengeRequest, options?: CallOptions): Call<OrderChallenge> {
    return this.callJson<OrderChallenge>('POST', path`/v1/clinical/orders/${orderId}/challenge`, { args, body: 'flat', answer: 'OrderChallenge' }, options)
  }
}

export class ClinicalOrdersMethods extends Group {
  /**
   * Cancel an order that has not been executed.
   *
   * Possible until the order is executed.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  cancel(orderId: string, args: CancelOrderRequest, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('POST', path`/v1/clinical/orders/${orderId}/cancel`, { args, body: 'flat', answer: 'Order' }, options)
  }

  /**
   * Co-sign an order as the second clinician, with a passkey.
   *
   * Another prescriber, by user and NPI, of the tier that the policy asks for and on no exclusion list.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  cosign(orderId: string, args: CosignOrderRequest, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('POST', path`/v1/clinical/orders/${orderId}/cosign`, { args, body: 'CosignOrderRequest', answer: 'Order' }, options)
  }

  /**
   * Enter an order, which its prescriber signs.
   *
   * The schedule is the strictest of the request, the formulary and the substances of 21 CFR 1308 in the name of the
   * medication. A FHIR resource names the prescriber by NPI in `requester.identifier`. See the
   * [guide](https://api.example.test/docs/authorize/clinical#orders).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(args: CreateOrderRequest, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('POST', '/v1/clinical/orders', { args, body: 'CreateOrderRequest', answer: 'Order' }, options)
  }

  /**
   * Decline an order as the second clinician, which is final.
   *
   * Another prescriber who is signed in declines, or a caller with a key. It is possible until the order is executed.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  decline(orderId: string, args: DeclineOrderRequest, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('POST', path`/v1/clinical/orders/${orderId}/decline`, { args, body: 'flat', answer: 'Order' }, options)
  }

  /**
   * List clinician orders, newest first.
   *
   * An open order that was not executed within 72 hours is expired. NDJSON has everything that matches: an export for
   * inspections. See the [guide](https://api.example.test/docs/authorize/clinical#orders).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  list(args?: ListOrdersQuery, options?: CallOptions): Pages<Order, OrderList> {
    return this.callPages<Order, OrderList>('/v1/clinical/orders', { args, answer: 'Order' }, options)
  }

  /**
   * Read one order, as JSON or as a MedicationRequest of FHIR R4.
   *
   * With `Accept: application/fhir+json` a MedicationRequest: the resource as it came, with its extensions and the
   * digits of its decimals, and our status in an extension. See the
   * [guide](https://api.example.test/docs/authorize/clinical#orders).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieve(orderId: string, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('GET', path`/v1/clinical/orders/${orderId}`, { answer: 'Order' }, options)
  }

  /**
   * Sign an order as its prescriber.
   *
   * The signed-in prescriber, or a passkey of the prescriber that a key passes on. Without a passkey only where the
   * policy asks for none, and the prescriber is signed in. What verify would refuse is not signed.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  sign(orderId: string, args?: SignOrderRequest, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('POST', path`/v1/clinical/orders/${orderId}/sign`, { args, body: 'SignOrderRequest', answer: 'Order' }, options)
  }

  /**
   * Edit an order, which voids its signatures.
   *
   * Another content has another hash, and both signatures are void. An order that was made from a FHIR resource is
   * edited by sending the whole resource.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  update(orderId: string, args: UpdateOrderRequest & {
      /** Required. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch: string
    }, options?: CallOptions): Call<Order> {
    return this.callJson<Order>('PATCH', path`/v1/clinical/orders/${orderId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'UpdateOrderRequest', answer: 'Order' }, options)
  }
}

export class ClinicalPolicyMethods extends Group {
  /**
   * Read the clinical policy, with its version as ETag.
   *
   * Per account and environment. `version` 0 is the defaults. See the
   * [guide](https://api.example.test/docs/authorize/clinical).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<ClinicalPolicy> {
    return this.callJson<ClinicalPolicy>('GET', '/v1/clinical/policy', { answer: 'ClinicalPolicy' }, options)
  }

  /**
   * Replace the clinical policy by a new version.
   *
   * Makes a new version, which applies to every later decision; the same document again makes none. Refills of schedule
   * II are 0, and of schedules III and IV at most 5 within 181 days, as 21 CFR 1306 demands.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(args: ReplaceClinicalPolicyRequest & {
      /** Required. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<ClinicalPolicy> {
    return this.callJson<ClinicalPolicy>('PUT', '/v1/clinical/policy', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'ClinicalPolicy' }, options)
  }
}

export class ClinicalPolicyVersionsMethods extends Group {
  /**
   * List all versions of the clinical policy, newest first, and who made each.
   *
   * A version never changes.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListClinicalPolicyVersionsQuery, options?: CallOptions): Pages<ClinicalPolicy, ClinicalPolicyList> {
    return this.callPages<ClinicalPolicy, ClinicalPolicyList>('/v1/clinical/policy/versions', { args, answer: 'ClinicalPolicy' }, options)
  }

  /**
   * Read one version of the clinical policy.
   *
   * Version 0 is the defaults.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(version: string, options?: CallOptions): Call<ClinicalPolicy> {
    return this.callJson<ClinicalPolicy>('GET', path`/v1/clinical/policy/versions/${version}`, { answer: 'ClinicalPolicy' }, options)
  }
}

export class ClinicalPrescribersMethods extends Group {
  /**
   * Enter a prescriber, for one user and one NPI.
   *
   * Names and birth date are sealed at rest. A check digit can’t tell which digit is wrong: the error says what the last
   * one would be. Licences and the registration are entered as facts, which somebody else confirms. See the
   * [guide](https://api.example.test/docs/authorize/clinical).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreatePrescriberRequest, options?: CallOptions): Call<Prescriber> {
    return this.callJson<Prescriber>('POST', '/v1/clinical/prescribers', { args, body: 'CreatePrescriberRequest', answer: 'Prescriber' }, options)
  }

  /**
   * List prescribers, newest first.
   *
   * The tier is that of this moment. Filters take one user or one NPI. See the
   * [guide](https://api.example.test/docs/authorize/clinical).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(args?: ListPrescribersQuery, options?: CallOptions): Pages<Prescriber, PrescriberList> {
    return this.callPages<Prescriber, PrescriberList>('/v1/clinical/prescribers', { args, answer: 'Prescriber' }, options)
  }

  /**
   * Lift the suspension of a prescriber, whose facts have to be confirmed again.
   *
   * The facts that were confirmed count as entered by you: for tier 3, somebody else confirms them again with a passkey.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  reinstate(prescriberId: string, options?: CallOptions): Call<Prescriber> {
    return this.callJson<Prescriber>('POST', path`/v1/clinical/prescribers/${prescriberId}/reinstate`, { answer: 'Prescriber' }, options)
  }

  /**
   * Read one prescriber, with the tier at this moment.
   *
   * No tier is stored: an expiry or a suspension counts at once. See the
   * [guide](https://api.example.test/docs/authorize/clinical).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieve(prescriberId: string, options?: CallOptions): Call<Prescriber> {
    return this.callJson<Prescriber>('GET', path`/v1/clinical/prescribers/${prescriberId}`, { answer: 'Prescriber' }, options)
  }

  /**
   * Suspend a prescriber, from the next decision on.
   *
   * One person suffices. The tier is 0, and orders are refused, from the next decision on.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate limit of
   * its own, for emergencies.
   */
  suspend(prescriberId: string, args: SuspendPrescriberRequest, options?: CallOptions): Call<Prescriber> {
    return this.callJson<Prescriber>('POST', path`/v1/clinical/prescribers/${prescriberId}/suspend`, { args, body: 'flat', answer: 'Prescriber' }, options)
  }

  /**
   * Correct the NPI, name or birth date of a prescriber, which ends the facts about the identity.
   *
   * The identity was checked for another name, birth date or NPI, so the facts of the kind identity end, and the tier is
   * 0 until one is entered and confirmed again.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(prescriberId: string, args: UpdatePrescriberRequest & {
      /** Required. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<Prescriber> {
    return this.callJson<Prescriber>('PATCH', path`/v1/clinical/prescribers/${prescriberId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'Prescriber' }, options)
  }
}

export class ClinicalMethods extends Group {
  readonly exclusionImports: ClinicalExclusionImportsMethods
  readonly exclusionLists: ClinicalExclusionListsMethods
  readonly exclusionReviews: ClinicalExclusionReviewsMethods
  readonly exclusionScreenings: ClinicalExclusionScreeningsMethods
  readonly factChallenges: ClinicalFactChallengesMethods
  readonly facts: ClinicalFactsMethods
  readonly formulary: ClinicalFormularyMethods
  readonly formularyEntries: ClinicalFormularyEntriesMethods
  readonly incidentReports: ClinicalIncidentReportsMethods
  readonly orderChallenges: ClinicalOrderChallengesMethods
  readonly orders: ClinicalOrdersMethods
  readonly policy: ClinicalPolicyMethods
  readonly policyVersions: ClinicalPolicyVersionsMethods
  readonly prescribers: ClinicalPrescribersMethods

  constructor(transport: Transport) {
    super(transport)
    this.exclusionImports = new ClinicalExclusionImportsMethods(transport)
    this.exclusionLists = new ClinicalExclusionListsMethods(transport)
    this.exclusionReviews = new ClinicalExclusionReviewsMethods(transport)
    this.exclusionScreenings = new ClinicalExclusionScreeningsMethods(transport)
    this.factChallenges = new ClinicalFactChallengesMethods(transport)
    this.facts = new ClinicalFactsMethods(transport)
    this.formulary = new ClinicalFormularyMethods(transport)
    this.formularyEntries = new ClinicalFormularyEntriesMethods(transport)
    this.incidentReports = new ClinicalIncidentReportsMethods(transport)
    this.orderChallenges = new ClinicalOrderChallengesMethods(transport)
    this.orders = new ClinicalOrdersMethods(transport)
    this.policy = new ClinicalPolicyMethods(transport)
    this.policyVersions = new ClinicalPolicyVersionsMethods(transport)
    this.prescribers = new ClinicalPrescribersMethods(transport)
  }

}

export class DecisionsCheckpointsMethods extends Group {
  /**
   * List signed states of the ledger, the largest first.
   *
   * A checkpoint is signed at most once a minute, when the log has grown. Keep the newest checkpoint elsewhere: with it,
   * every change of an earlier entry is detected. See [the ledger](https://api.example.test/docs/authorize/ledger).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListLedgerCheckpointsQuery, options?: CallOptions): Pages<LedgerCheckpoint, LedgerCheckpointList> {
    return this.callPages<LedgerCheckpoint, LedgerCheckpointList>('/v1/decisions/checkpoints', { args, answer: 'flat' }, options)
  }
}

export class DecisionsConsistencyMethods extends Group {
  /**
   * Prove that the ledger has only grown since an earlier size.
   *
   * Proves from the roots of two checkpoints that the older checkpoint’s leaves are the first leaves of the newer one.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(args?: GetLedgerConsistencyQuery, options?: CallOptions): Call<LedgerConsistencyProof> {
    return this.callJson<LedgerConsistencyProof>('GET', '/v1/decisions/consistency', { args, answer: 'LedgerConsistencyProof' }, options)
  }
}

export class DecisionsProofMethods extends Group {
  /**
   * Prove that a decision is in the ledger.
   *
   * Returns the hashes that lead from the entry to the root that a checkpoint signs. The answer is 409 `not_ready` while
   * no checkpoint covers the entry: ask again in a minute. See [the
   * ledger](https://api.example.test/docs/authorize/ledger).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(decisionId: string, args?: GetDecisionProofQuery, options?: CallOptions): Call<LedgerInclusionProof> {
    return this.callJson<LedgerInclusionProof>('GET', path`/v1/decisions/${decisionId}/proof`, { args, answer: 'LedgerInclusionProof' }, options)
  }
}

export class DecisionsMethods extends Group {
  readonly checkpoints: DecisionsCheckpointsMethods
  readonly consistency: DecisionsConsistencyMethods
  readonly proof: DecisionsProofMethods

  constructor(transport: Transport) {
    super(transport)
    this.checkpoints = new DecisionsCheckpointsMethods(transport)
    this.consistency = new DecisionsConsistencyMethods(transport)
    this.proof = new DecisionsProofMethods(transport)
  }

  /**
   * Explain a decision by its facts, and whether they lead to the same answer again.
   *
   * Opens the recorded facts, and decides again from them alone. Facts are shown only when their hash is the one in the
   * entry.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  explain(decisionId: string, options?: CallOptions): Call<DecisionExplanation> {
    return this.callJson<DecisionExplanation>('GET', path`/v1/decisions/${decisionId}/explain`, { answer: 'DecisionExplanation' }, options)
  }

  /**
   * Export the ledger as NDJSON, to be checked without the service.
   *
   * The export ends at the newest checkpoint. It has the entries by position, the leaf in place of a deleted entry, and
   * the checkpoints in their places. With `after` it continues where an earlier export ended. The export is recorded in
   * the audit log. `npm run ledger -- verify` checks it without the service. See [the
   * ledger](https://api.example.test/docs/authorize/ledger).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  export(args?: ExportLedgerQuery, options?: CallOptions): Lines<LedgerLine> {
    return this.callLines<LedgerLine>('/v1/decisions/export', { args, answer: 'flat' }, options)
  }

  /**
   * List decisions, newest first.
   *
   * Filters by kind, reason, time, and what a decision is about: its subject, token, agent, agent session, device,
   * mandate, schedule or trace, and the rule that gave the answer. A page ends after half a megabyte, also before its
   * `limit`: continue while `has_more`. Entries are kept for 30 days, a year or seven years, by plan, and in the sandbox
   * for 7 days; clinical ones for two years at least. See [the ledger](https://api.example.test/docs/authorize/ledger).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListDecisionsQuery, options?: CallOptions): Pages<Decision, DecisionList> {
    return this.callPages<Decision, DecisionList>('/v1/decisions', { args, answer: 'Decision' }, options)
  }

  /**
   * Read one decision.
   *
   * A key with `verify` reads the decisions that it made itself; a key that also has `admin` reads all. `position` is
   * the place of its leaf in the log, which it has a second after the decision.
   *
   * Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(decisionId: string, options?: CallOptions): Call<Decision> {
    return this.callJson<Decision>('GET', path`/v1/decisions/${decisionId}`, { answer: 'Decision' }, options)
  }

  /**
   * Check a part of the ledger: entries, leaves, stored nodes and checkpoints.
   *
   * The service checks its own rows, 10,000 leaves at a time, and fewer where entries are long: call again with `next`
   * until it is null. It finds rows that were changed, removed or added in the database. To check without trusting the
   * service, check an export.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  verifyChain(args?: CheckLedgerRequest, options?: CallOptions): Call<LedgerCheck> {
    return this.callJson<LedgerCheck>('POST', '/v1/decisions/verify-chain', { args, body: 'flat', answer: 'LedgerCheck' }, options)
  }
}

export class DevicesAttestationsMethods extends Group {
  /**
   * Replace the hardware evidence of up to 10,000 devices, as NDJSON.
   *
   * One device per line; bad lines are reported and do not affect the others, and an incomplete body changes nothing. A
   * publishable key may send 1,000 lines. Repeat with the same Idempotency-Key: each challenge is valid once.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  upload(items: Items<DeviceEvidence>, options?: CallOptions): Call<DeviceRefresh> {
    return this.callBatch<DeviceRefresh>('/v1/admin/devices/attestations', items, { body: 'DeviceEvidence', answer: 'DeviceRefresh' }, options)
  }
}

export class DevicesBatchesMethods extends Group {
  /**
   * Enroll up to 10,000 devices, as NDJSON.
   *
   * Each line is a body of `POST /v1/admin/devices`. Bad lines are reported and do not affect the others. A publishable
   * key may send 1,000 lines. An interrupted upload stores nothing.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  create(items: Items<EnrollDeviceRequest>, options?: CallOptions): Call<DeviceBatch> {
    return this.callBatch<DeviceBatch>('/v1/admin/devices/batches', items, { body: 'EnrollDeviceRequest', answer: 'DeviceBatch' }, options)
  }
}

export class DevicesChallengesMethods extends Group {
  /**
   * Issue challenges for hardware evidence: each is valid once, for a day.
   *
   * Hardware evidence must contain one: 32 bytes in base64url, each valid once and for a day. See the guide to hardware
   * evidence, docs/attest/hardware.md.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateChallengesRequest, options?: CallOptions): Call<IssuedChallenges> {
    return this.callJson<IssuedChallenges>('POST', '/v1/admin/devices/challenges', { args, body: 'flat', answer: 'IssuedChallenges' }, options)
  }
}

export class DevicesCountsMethods extends Group {
  /**
   * Count devices by status and hardware tier.
   *
   * Counts the devices of the account and environment. `expired` devices count as not enrolled; renew certificates
   * before they expire.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<DeviceCounts> {
    return this.callJson<DeviceCounts>('GET', '/v1/admin/devices/counts', { answer: 'DeviceCounts' }, options)
  }
}

export class DevicesHistoryMethods extends Group {
  /**
   * Read the history of one device, newest first.
   *
   * An entry says that the device was enrolled, renewed by a newer certificate, attested by newer evidence or revoked,
   * by which key, and by whom if the caller said so. A device expires automatically at `expires_at` of its last
   * enrolment or renewal.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(deviceId: string, args?: GetDeviceHistoryQuery, options?: CallOptions): Pages<DeviceEntry, DeviceEntryList> {
    return this.callPages<DeviceEntry, DeviceEntryList>(path`/v1/admin/devices/${deviceId}/history`, { args, answer: 'DeviceEntry' }, options)
  }
}

export class DevicesRootsMethods extends Group {
  /**
   * Register a CA certificate (PEM, or base64 of DER) that device certificates may lead to.
   *
   * The certificate chain of a device must lead to a root CA of the account; otherwise its captures raise
   * `cert_unknown_ca`.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateRootCaRequest, options?: CallOptions): Call<RootCa> {
    return this.callJson<RootCa>('POST', '/v1/admin/root-cas', { args, body: 'flat', answer: 'RootCa' }, options)
  }

  /**
   * Stop trusting a root CA. Devices stay; new captures that lead to it raise cert_unknown_ca.
   *
   * Earlier results stay as they are.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  delete(rootCaId: string, options?: CallOptions): Call<DeletedRootCa> {
    return this.callJson<DeletedRootCa>('DELETE', path`/v1/admin/root-cas/${rootCaId}`, { answer: 'flat' }, options)
  }

  /**
   * List root CAs, newest first.
   *
   * Each root CA has its certificate in PEM.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListRootCasQuery, options?: CallOptions): Pages<RootCa, RootCaList> {
    return this.callPages<RootCa, RootCaList>('/v1/admin/root-cas', { args, answer: 'RootCa' }, options)
  }

  /**
   * Read one root CA.
   *
   * The answer has the certificate in PEM.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(rootCaId: string, options?: CallOptions): Call<RootCa> {
    return this.callJson<RootCa>('GET', path`/v1/admin/root-cas/${rootCaId}`, { answer: 'RootCa' }, options)
  }
}

export class DevicesMethods extends Group {
  readonly attestations: DevicesAttestationsMethods
  readonly batches: DevicesBatchesMethods
  readonly challenges: DevicesChallengesMethods
  readonly counts: DevicesCountsMethods
  readonly history: DevicesHistoryMethods
  readonly roots: DevicesRootsMethods

  constructor(transport: Transport) {
    super(transport)
    this.attestations = new DevicesAttestationsMethods(transport)
    this.batches = new DevicesBatchesMethods(transport)
    this.challenges = new DevicesChallengesMethods(transport)
    this.counts = new DevicesCountsMethods(transport)
    this.history = new DevicesHistoryMethods(transport)
    this.roots = new DevicesRootsMethods(transport)
  }

  /**
   * Replace the hardware evidence of a device by newer evidence.
   *
   * Newer evidence replaces the stored evidence, whether the tier rises or falls. Evidence that is not about this device
   * is refused and changes nothing; the errors say why.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  attest(deviceId: string, args: AttestDeviceRequest, options?: CallOptions): Call<Device> {
    return this.callJson<Device>('POST', path`/v1/admin/devices/${deviceId}/attestation`, { args, body: 'flat', answer: 'Device' }, options)
  }

  /**
   * Enroll one device by its certificate chain.
   *
   * `certificate_chain` is base64 of DER, leaf first, without the root. Sending the same key again returns the same
   * device. `attestation` is evidence of the key’s hardware: when it does not verify, the device has the tier `none` and
   * says why.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: EnrollDeviceRequest, options?: CallOptions): Call<Device> {
    return this.callJson<Device>('POST', '/v1/admin/devices', { args, body: 'EnrollDeviceRequest', answer: 'Device' }, options)
  }

  /**
   * List devices, newest first or by their expiry.
   *
   * A device must match all filters, and any of several statuses. `expired` means that the certificate has expired and
   * the device counts as not enrolled. `status=enrolled` with `expires_lt`, `order_by=expires` and `order=asc` lists the
   * devices to renew, the most urgent first.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListDevicesQuery, options?: CallOptions): Pages<Device, DeviceList> {
    return this.callPages<Device, DeviceList>('/v1/admin/devices', { args, answer: 'Device' }, options)
  }

  /**
   * Read one device.
   *
   * The answer has the certificate, and what the service knows of the hardware.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(deviceId: string, options?: CallOptions): Call<Device> {
    return this.callJson<Device>('GET', path`/v1/admin/devices/${deviceId}`, { answer: 'Device' }, options)
  }

  /**
   * Revoke a device permanently.
   *
   * Later captures of the device raise `device_revoked`, whatever their time. Captures that were accepted at or after
   * `effective_at` are re-evaluated: see `GET /v1/account/reevaluations`. Its key can not be enrolled again. A repeat
   * changes nothing.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
   */
  revoke(deviceId: string, args: RevokeDeviceRequest, options?: CallOptions): Call<Device> {
    return this.callJson<Device>('POST', path`/v1/admin/devices/${deviceId}/revoke`, { args, body: 'flat', answer: 'Device' }, options)
  }

  /**
   * Give a device another name, or none.
   *
   * The name is for people, and no result depends on it. A repeat changes nothing.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  update(deviceId: string, args: UpdateDeviceRequest, options?: CallOptions): Call<Device> {
    return this.callJson<Device>('PATCH', path`/v1/admin/devices/${deviceId}`, { args, body: 'flat', answer: 'Device' }, options)
  }
}

export class EventsConsumersMethods extends Group {
  /**
   * Delete a consumer. Its events stay.
   *
   * A consumer of the same name may be created again, at any position.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  delete(name: string, options?: CallOptions): Call<DeletedEventConsumer> {
    return this.callJson<DeletedEventConsumer>('DELETE', path`/v1/event-consumers/${name}`, { answer: 'flat' }, options)
  }

  /**
   * The consumers of events, by name.
   *
   * Each consumer shows its position, and how many events are left for it.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  list(args?: ListEventConsumersQuery, options?: CallOptions): Pages<EventConsumer, EventConsumerList> {
    return this.callPages<EventConsumer, EventConsumerList>('/v1/event-consumers', { args, answer: 'flat' }, options)
  }

  /**
   * Create a consumer, or store the position up to which it has processed events.
   *
   * Report a position when the events up to it are processed. A position only moves forward: a lower one is 409
   * `consumer_moved` with the current `position`, and so is a wrong `expected_position`. A position that the consumer
   * never received is refused. To read again from an earlier position, read with `after`, or delete the consumer. The
   * answer is 410 `events_expired` where events after the position were deleted (they are kept for 30 days).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  move(name: string, args?: PutEventConsumerRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<EventConsumer> {
    return this.callJson<EventConsumer>('PUT', path`/v1/event-consumers/${name}`, { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'flat' }, options)
  }

  /**
   * One consumer, and how far behind it is.
   *
   * `lag` counts events of all types.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(name: string, options?: CallOptions): Call<EventConsumer> {
    return this.callJson<EventConsumer>('GET', path`/v1/event-consumers/${name}`, { answer: 'flat' }, options)
  }
}

export class EventsTypesMethods extends Group {
  /**
   * List every type of event, with its schema and an example.
   *
   * The list is one page. Payloads are checked against these schemas before they are stored.
   *
   * No key is needed. Generators of code have no key.
   */
  list(options?: CallOptions): Pages<EventTypeEntry, EventTypeEntryList> {
    return this.callPages<EventTypeEntry, EventTypeEntryList>('/v1/event-types', { answer: 'EventTypeEntry' }, options)
  }

  /**
   * Read one type of event.
   *
   * Types that this version of the service does not send yet are included.
   *
   * No key is needed. Generators of code have no key.
   */
  retrieve(type: string, options?: CallOptions): Call<EventTypeEntry> {
    return this.callJson<EventTypeEntry>('GET', path`/v1/event-types/${type}`, { answer: 'EventTypeEntry' }, options)
  }
}

export class EventsMethods extends Group {
  readonly consumers: EventsConsumersMethods
  readonly types: EventsTypesMethods

  constructor(transport: Transport) {
    super(transport)
    this.consumers = new EventsConsumersMethods(transport)
    this.types = new EventsTypesMethods(transport)
  }

  /**
   * List events, newest first.
   *
   * Lists the events of the last 30 days, for pages. To process each event once, pull the events. A user gets the events
   * that their role may read. `subject_id` finds the events of one claim, case, agent session, token and so on; it
   * matches the claim of an event and the narrowest other object that the event names. An event is listed within
   * seconds.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListEventsQuery, options?: CallOptions): Pages<Event, EventList> {
    return this.callPages<Event, EventList>('/v1/events', { args, answer: 'flat' }, options)
  }

  /**
   * Pull the events after a position, oldest first.
   *
   * Returns the same events as webhooks do, for receivers that can not be called. An event gets its position within two
   * seconds of its commit, and no event ever appears before one that was shown. Continue with `next_after`: no event is
   * missed or repeated. The answer is 410 `events_expired` where events after the position were deleted (they are kept
   * for 30 days). With `wait` (or `Prefer: wait=N`), the service answers at the first event, or when the seconds are
   * over.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  pull(args?: PullEventsQuery, options?: CallOptions): Call<EventPull> {
    return this.callJson<EventPull>('GET', '/v1/events/pull', { args, answer: 'EventPull' }, options)
  }

  /**
   * One event.
   *
   * The event is the same as in its deliveries, and is kept for 30 days.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(eventId: string, options?: CallOptions): Call<Event> {
    return this.callJson<Event>('GET', path`/v1/events/${eventId}`, { answer: 'flat' }, options)
  }
}

export class IntentChallengesMethods extends Group {
  /**
   * Ask for a challenge by which a person confirms one action with a passkey.
   *
   * A person confirms the action in a browser, with `options`. Send the browser’s answer as `passkey_assertion` of the
   * request that the challenge is for. The challenge works for two minutes, once, and for exactly this action, agent
   * session and device. The challenge of a session is for the passkeys of its own user; the challenge of a key is for
   * the passkeys of every user of the account.
   *
   * Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(args: CreatePasskeyChallengeRequest, options?: CallOptions): Call<PasskeyChallenge> {
    return this.callJson<PasskeyChallenge>('POST', '/v1/intent/challenges', { args, body: 'flat', answer: 'flat' }, options)
  }
}

export class IntentExecutionsMethods extends Group {
  /**
   * Report how an executed action ended.
   *
   * Reports once how an executed action ended. Only the caller that executed it may; the successor
   * of a rotated API key is the same caller here. `failed` and `not_run` give back what the execution charged to a
   * mandate, or the cycle
   * of a schedule. They do not make the token usable again, and an order stays executed.
   *
   * Scope `verify`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  report(jti: string, args: ReportOutcomeRequest, options?: CallOptions): Call<Execution> {
    return this.callJson<Execution>('POST', path`/v1/intent/executions/${jti}/outcome`, { args, body: 'flat', answer: 'flat' }, options)
  }

  /**
   * Read the outcome of an executed action.
   *
   * Shows when the action of a token was executed, and how it ended if that was reported.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(jti: string, options?: CallOptions): Call<Execution> {
    return this.callJson<Execution>('GET', path`/v1/intent/executions/${jti}`, { answer: 'flat' }, options)
  }
}

export class IntentRevocationsMethods extends Group {
  /**
   * Revoke a token, or all tokens of an agent session or a device, from the next verify on.
   *
   * From the commit on, no verify of any process accepts a token that the revocation ends: one token, or every unexpired
   * token of an agent session or a device. These tokens stay revoked. A revoked session or device gets no new tokens,
   * until `expires_at` where that is given. A longer existing revocation stays as it is. Send the member that belongs to
   * the scope: `jti`, `agent_session_id` or `device_id`. Publishable keys revoke tokens only.
   *
   * Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
   * emergencies.
   */
  create(args: RevokeIntentsRequest, options?: CallOptions): Call<Revocation> {
    return this.callJson<Revocation>('POST', '/v1/intent/revocations', { args, body: 'flat', answer: 'Revocation' }, options)
  }

  /**
   * List revocations, newest first.
   *
   * The list includes revocations that have expired, and revocations of devices in their registry.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListRevocationsQuery, options?: CallOptions): Pages<Revocation, RevocationList> {
    return this.callPages<Revocation, RevocationList>('/v1/intent/revocations', { args, answer: 'Revocation' }, options)
  }

  /**
   * Read one revocation.
   *
   * A revocation never changes.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(revocationId: string, options?: CallOptions): Call<Revocation> {
    return this.callJson<Revocation>('GET', path`/v1/intent/revocations/${revocationId}`, { answer: 'Revocation' }, options)
  }
}

export class IntentStatusMethods extends Group {
  /**
   * Read whether a token is active, revoked or expired.
   *
   * A relying party that verified a token offline calls this. `revoked` stays `revoked` after the token has expired. A
   * verify also checks the policy, the agent and the account. Tokens that expired a month ago are not found.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(jti: string, options?: CallOptions): Call<IntentStatus> {
    return this.callJson<IntentStatus>('GET', path`/v1/intent/status/${jti}`, { answer: 'flat' }, options)
  }
}

export class IntentStatusListsMethods extends Group {
  /**
   * Read which tokens are revoked, as a signed Token Status List.
   *
   * A JWT of type `statuslist+jwt` (draft-ietf-oauth-status-list), signed like the tokens. `status_list.lst` has two
   * bits for each token, at the `idx` of its claim `status`: 0 valid, 1 revoked. A revocation is in the list within 30
   * seconds; keep a list for `ttl` seconds. It does not include the policy, the agent or a stop: POST /v1/intent/verify
   * checks those.
   *
   * No key is needed. Every holder of a token may check it offline; the list names no account and no token.
   */
  retrieve(statusListId: string, options?: CallOptions): Call<Response> {
    return this.callBytes(path`/v1/intent/status-lists/${statusListId}`, { accept: 'application/statuslist+jwt' }, options)
  }
}

export class IntentMethods extends Group {
  readonly challenges: IntentChallengesMethods
  readonly executions: IntentExecutionsMethods
  readonly revocations: IntentRevocationsMethods
  readonly status: IntentStatusMethods
  readonly statusLists: IntentStatusListsMethods

  constructor(transport: Transport) {
    super(transport)
    this.challenges = new IntentChallengesMethods(transport)
    this.executions = new IntentExecutionsMethods(transport)
    this.revocations = new IntentRevocationsMethods(transport)
    this.status = new IntentStatusMethods(transport)
    this.statusLists = new IntentStatusListsMethods(transport)
  }

  /**
   * Issue a token for one action.
   *
   * Issues a token that is bound to exactly this action: to the description byte for byte, and to the payload as
   * canonical JSON (RFC 8785). The party that runs the action presents the token with the same description and payload
   * to
   * `POST /v1/intent/verify`. The token holds hashes only.
   *
   * With `single_use` the token can be executed once. Without it, a token that no mandate, schedule or approval binds
   * stays valid after an
   * execution.
   *
   * `agent_session_id` and `device_id` are any strings of yours; ids of this service (`ses_`, `dev_`) bring the
   * session's agent and
   * the device's hardware tier. `trace_id` binds the trace's stored canary reading; with `inference_input` a model of
   * the service takes
   * one first, and a model that can't is an error. A trace of another session or agent is refused. Where the kill switch
   * refuses a check of that
   * reading, or of the session's newest trip, authorize refuses with 409 `canary_tripped`, on the ledger, and locks as a
   * check does.
   * `context` is what rules of the policy read.
   *
   * `mandate_id`, `schedule_id` or `order_id` (one of them) names what the token is issued under; verify compares the
   * payload with it and charges it, or executes the order.
   * A mandate with an agent is for that agent only. `passkey_assertion` binds the token to the person who confirmed
   * exactly this action
   * with a passkey: ask for a challenge with `POST /v1/intent/challenges`.
   *
   * Where a rule of the policy requires an approval and nothing else refuses, people are asked: the answer has
   * `approval_id`, and the
   * token lives 300 seconds longer than its approval can be decided. Once approved, it is valid for `ttl_seconds` from
   * the decision on,
   * never longer than it lives, and for one execution.
   *
   * `preflight` says what verify would answer now. A rule that asks a webhook shows as `policy_webhook_pending`: it is
   * asked at verify only.
   * A canary condition is judged by the stored reading of the token's trace. Where that is missing, too old or not
   * enough, it shows as
   * `canary_unavailable` with mode `strict`, and passes with `best_effort`; verify may be given another `trace_id` or an
   * `inference_input`, and then answers by that.
   *
   * A repeat with the same Idempotency-Key returns the same token to the same principal until the token expires; then
   * `intent_token` is null.
   *
   * Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  authorize(args: AuthorizeIntentRequest, options?: CallOptions): Call<Authorization> {
    return this.callJson<Authorization>('POST', '/v1/intent/authorize', { args, body: 'AuthorizeIntentRequest', answer: 'Authorization' }, options)
  }

  /**
   * List issued tokens, newest first.
   *
   * Lists issued tokens and their outcomes. Only the answer of authorize has the token itself. `status` is the same as
   * in GET /v1/intent/status/{jti}: an executed token stays active until it expires. Tokens that expired a month ago are
   * not listed.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListIntentsQuery, options?: CallOptions): Pages<Intent, IntentList> {
    return this.callPages<Intent, IntentList>('/v1/intents', { args, answer: 'Intent' }, options)
  }

  /**
   * Resume the agents of the account after a stop.
   *
   * Tokens that have not expired meanwhile verify again. Without a stop the request changes nothing.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer. A
   * rate limit of its own, for emergencies.
   */
  resume(options?: CallOptions): Call<IntentStop> {
    return this.callJson<IntentStop>('POST', '/v1/intent/resume', { answer: 'IntentStop' }, options)
  }

  /**
   * Read whether the agents of the account are stopped in this environment.
   *
   * The answer is the last stop, whether it is in force or lifted.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer. A rate limit of its own, for emergencies.
   */
  retrieveStop(options?: CallOptions): Call<IntentStop> {
    return this.callJson<IntentStop>('GET', '/v1/intent/stop', { answer: 'IntentStop' }, options)
  }

  /**
   * Stop all agents of the account in this environment.
   *
   * Authorize answers 409 `account_stopped`, and verify `policy_denied` with `matched_rule_id` `system:stop`, until the
   * agents are resumed. A stop while one is in force changes nothing.
   *
   * Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer. A
   * rate limit of its own, for emergencies.
   */
  stop(args: StopIntentsRequest, options?: CallOptions): Call<IntentStop> {
    return this.callJson<IntentStop>('POST', '/v1/intent/stop', { args, body: 'flat', answer: 'IntentStop' }, options)
  }

  /**
   * Answer whether an action may run now.
   *
   * Answers whether this action may run now, and records the answer in the decision ledger. A refusal is an answer: the
   * status is 200, `valid` is false and `reason` says why. Any other status is no permission either.
   *
   * With `execute` (the default) the first valid answer marks the token as executed, and its caller runs the action and
   * reports the
   * outcome. **Send an Idempotency-Key for each attempt to run an action**: it tells a repeat, whose first answer was
   * lost, from a second
   * payment. The same caller with the same key is answered valid again, with `already_executed`. A request without a key
   * repeats nothing.
   *
   * Under a mandate the first valid execution charges its budget and those of all mandates above it, under a schedule it
   * uses the cycle.
   * Then every other caller, every other key and every request without a key is refused, with
   * `schedule_already_executed` under a schedule and
   * `token_already_executed` under a mandate, after an approval, or with `single_use`. A token without any of these
   * stays valid, with
   * `already_executed`.
   *
   * `agent_session_id`, `device_id`, `audience` and `context_evidence` are compared where they are given. Where the
   * policy has `require_bindings`, a binding that the request leaves out is answered as if it differed.
   *
   * `execute: false` answers what executing would answer this caller with this key, uses nothing up and opens no
   * approval.
   * `mandate_remaining` and `schedule_cycle` say how things stand after this answer. Under load of one mandate the
   * status may be 503 with
   * `Retry-After`: repeat with the same key.
   *
   * A policy that was tightened since authorize may require an approval now: an execution opens it, once for each token.
   *
   * `receipt: true` adds a JWS of the answer (type `verify-receipt+jwt`, by a record key).
   *
   * Scope `verify`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  verify(args: VerifyIntentRequest, options?: CallOptions): Call<VerifyResult> {
    return this.callJson<VerifyResult>('POST', '/v1/intent/verify', { args, body: 'VerifyIntentRequest', answer: 'VerifyResult' }, options)
  }
}

export class MandatesSpendMethods extends Group {
  /**
   * Read what was spent under a mandate, by day.
   *
   * Adds up the charges of the budget by the day (UTC) on which the action was executed; the charges of children are
   * included. Charges are kept for 45 days, and a period has at most 25,000. A mandate without a budget is charged
   * nothing: GET /v1/analytics/mandate-spend adds up its executions.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(mandateId: string, args?: GetMandateSpendQuery, options?: CallOptions): Call<MandateDailySpend> {
    return this.callJson<MandateDailySpend>('GET', path`/v1/mandates/${mandateId}/spend`, { args, answer: 'MandateDailySpend' }, options)
  }
}

export class MandatesMethods extends Group {
  readonly spend: MandatesSpendMethods

  constructor(transport: Transport) {
    super(transport)
    this.spend = new MandatesSpendMethods(transport)
  }

  /**
   * Grant a mandate.
   *
   * A mandate lets an agent act: it has constraints for each action, a budget for all actions, and an expiry. An unknown
   * constraint is refused. With `parent_id` the mandate lies within its parent: its terms may not exceed the terms of
   * any ancestor, its budget may not exceed what the ancestors have left, and every charge is made on all of them. It
   * needs `escalate`: an agent whose key has `intent` can not grant itself a mandate.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateMandateRequest, options?: CallOptions): Call<Mandate> {
    return this.callJson<Mandate>('POST', '/v1/mandates', { args, body: 'CreateMandateRequest', answer: 'Mandate' }, options)
  }

  /**
   * Check in for a mandate, so that it is not suspended.
   *
   * A mandate with a heartbeat is suspended when no check-in comes within its interval and 60 s. A check-in within the
   * reactivation window makes the mandate active again; after the window the mandate is `lapsed` permanently, and a
   * check-in is 409. A mandate without a heartbeat is 409 `conflict`.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  heartbeat(mandateId: string, options?: CallOptions): Call<Mandate> {
    return this.callJson<Mandate>('POST', path`/v1/mandates/${mandateId}/heartbeat`, { answer: 'Mandate' }, options)
  }

  /**
   * List mandates, newest first.
   *
   * A mandate must match all filters, and any of the given values of `status`. `status` takes the ancestors into
   * account, and follows the clock: a mandate expires or is suspended on time without any job.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListMandatesQuery, options?: CallOptions): Pages<Mandate, MandateList> {
    return this.callPages<Mandate, MandateList>('/v1/mandates', { args, answer: 'Mandate' }, options)
  }

  /**
   * Read one mandate, with what is left of its budget.
   *
   * `budget` is the mandate’s own budget; `remaining` is the most that an action may cost, with the budgets of its
   * ancestors. The periods of a budget are calendar days, weeks from Monday on, months and years in the mandate’s time
   * zone.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(mandateId: string, options?: CallOptions): Call<Mandate> {
    return this.callJson<Mandate>('GET', path`/v1/mandates/${mandateId}`, { answer: 'Mandate' }, options)
  }

  /**
   * End a mandate and its children, from the next decision on.
   *
   * From the commit on, no verify of any process accepts a token of the mandate or of its descendants. A mandate that is
   * revoked stays as it is. Other requests do not count against the rate limit of this one.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
   */
  revoke(mandateId: string, args: RevokeMandateRequest, options?: CallOptions): Call<Mandate> {
    return this.callJson<Mandate>('POST', path`/v1/mandates/${mandateId}/revoke`, { args, body: 'flat', answer: 'Mandate' }, options)
  }

  /**
   * Make a mandate allow less.
   *
   * Members that are absent keep their values. A change may add a limit or lower one; in a child, limits stay within the
   * ancestors. A member that would allow more is refused with the code `wider`. A change of `heartbeat` counts as a
   * check-in; without `reactivation_window_seconds` the window keeps its length.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  update(mandateId: string, args?: NarrowMandateRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<Mandate> {
    return this.callJson<Mandate>('PATCH', path`/v1/mandates/${mandateId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'NarrowMandateRequest', answer: 'Mandate' }, options)
  }
}

export class MediaC2paAnchorsMethods extends Group {
  /**
   * Trust a CA certificate (PEM, or base64 of DER) that signers of C2PA manifests may lead to.
   *
   * A manifest is `trusted` when its signer leads to an anchor of the account or of the deployment.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateC2paAnchorRequest, options?: CallOptions): Call<C2paAnchor> {
    return this.callJson<C2paAnchor>('POST', '/v1/admin/c2pa-anchors', { args, body: 'flat', answer: 'C2paAnchor' }, options)
  }

  /**
   * Stop trusting an anchor of C2PA manifests in later evaluations.
   *
   * Earlier results stay as they are.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  delete(c2paAnchorId: string, options?: CallOptions): Call<DeletedC2paAnchor> {
    return this.callJson<DeletedC2paAnchor>('DELETE', path`/v1/admin/c2pa-anchors/${c2paAnchorId}`, { answer: 'flat' }, options)
  }

  /**
   * List anchors of C2PA manifests, newest first.
   *
   * Each anchor has its certificate in PEM. The list leaves out the deployment’s anchors.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListC2paAnchorsQuery, options?: CallOptions): Pages<C2paAnchor, C2paAnchorList> {
    return this.callPages<C2paAnchor, C2paAnchorList>('/v1/admin/c2pa-anchors', { args, answer: 'C2paAnchor' }, options)
  }

  /**
   * Read one anchor of C2PA manifests.
   *
   * The answer has the certificate in PEM.
   *
   * Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(c2paAnchorId: string, options?: CallOptions): Call<C2paAnchor> {
    return this.callJson<C2paAnchor>('GET', path`/v1/admin/c2pa-anchors/${c2paAnchorId}`, { answer: 'C2paAnchor' }, options)
  }
}

export class MediaMethods extends Group {
  readonly c2paAnchors: MediaC2paAnchorsMethods

  constructor(transport: Transport) {
    super(transport)
    this.c2paAnchors = new MediaC2paAnchorsMethods(transport)
  }

  /**
   * Download the original bytes, or one range of them.
   *
   * Returns the uploaded bytes unchanged, as an attachment. The ETag is the SHA-256 in hex.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  download(mediaId: string, args?: {
      /** `bytes=0-1023`: one range (RFC 9110 14.2). */
      range?: string | undefined
      /** An ETag: the range applies only while the ETag is the same. */
      ifRange?: string | undefined
    }, options?: CallOptions): Call<Response> {
    return this.callBytes(path`/v1/media/${mediaId}`, { args, headers: { range: 'Range', ifRange: 'If-Range' }, accept: 'application/octet-stream' }, options)
  }

  /**
   * A small upright picture (WebP, 320 pixels at its longest side) without metadata.
   *
   * The picture is made at the first request. The answer is 404 where the service can not read the pixels (HEIC), or not
   * within 8 s and 768 MB. The service decodes one picture of an account at a time: while 64 more wait, the answer is
   * 503 with `Retry-After`.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  downloadThumbnail(mediaId: string, options?: CallOptions): Call<Response> {
    return this.callBytes(path`/v1/media/${mediaId}/thumbnail`, { accept: 'image/webp' }, options)
  }

  /**
   * Read the type, size and dimensions of a photo or a video, and the claims that show it.
   *
   * The answer contains no bytes of the media. `width` and `height` are as stored in the file, before any rotation, and
   * null for a video.
   *
   * Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(mediaId: string, options?: CallOptions): Call<MediaDetails> {
    return this.callJson<MediaDetails>('GET', path`/v1/media/${mediaId}/metadata`, { answer: 'flat' }, options)
  }

  /**
   * Upload a photo (up to 100 MB) or a video (up to 2 GiB). The same bytes are the same media_id.
   *
   * The body is the raw bytes. The content type is detected from the bytes and must agree with the header. Uploading the
   * same bytes again answers the same `media_id`. Unreferenced media are deleted after 7 days.
   *
   * Scope `attest`. Sessions: owner, admin; in sandbox also developer.
   */
  upload(body: Uploadable, args?: {
      contentType?: 'image/jpeg' | 'image/png' | 'image/webp' | 'image/heic' | 'image/avif' | 'image/tiff' | 'video/mp4' | 'video/quicktime' | 'video/webm' | undefined
      /** `sha-256=:<base64>:` (RFC 9530): compared with the received bytes. */
      contentDigest?: string | undefined
    }, options?: UploadOptions): Call<Media> {
    return this.callUpload<Media>(['POST', '/v1/media'], body, { args, headers: { contentDigest: 'Content-Digest' }, answer: 'flat' }, options)
  }
}

export class OrgInvitesMethods extends Group {
  /**
   * Accept an invite and sign in with its role. The token works once.
   *
   * No session is needed: the token proves that the caller reads the mailbox. With a session of another address, where
   * the address belongs to a user already, and while the account is closed, the answer is 409 and the invite stays
   * pending. Where that user is of another account, `errors` says at `/close_own_account` what to do:
   * `session_required`, `leave_first`, `other_users`, `account_not_empty`, `account_suspended`, `being_erased` or
   * `confirmation_required`. With `close_own_account: true` a person who is signed in as the only user of an account
   * that has nothing yet, or is closed, leaves it: it is closed, in the same transaction. A token that does not work is
   * `invalid_request` at `/token`, whatever the reason, also where the API key that sent it has expired or was revoked.
   * Login links of the address stop working. `Idempotency-Key` is ignored: a token works once.
   *
   * No key is needed. The token is the credential.
   */
  accept(args: AcceptInviteRequest, options?: CallOptions): Call<Session> {
    return this.callJson<Session>('POST', '/v1/org/invites/accept', { args, body: 'flat', answer: 'Session', isOnce: true }, options)
  }

  /**
   * Invite a person by e-mail to become a user with a role.
   *
   * The mail contains a link that works once, for 7 days. An address has one pending invite. Only an owner who has just
   * signed in invites an owner, and no API key does. An API key grants no role that can do more than the key
   * (`role_limit`): `admin` takes every scope, `approver` the scope `escalate`, `developer` the scopes attest, verify,
   * intent and screen, each without an end, `ip_allow` or `products`. An account may send 200 invites an hour, and five
   * a day to one address.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  create(args: InviteUserRequest, options?: CallOptions): Call<Invite> {
    return this.callJson<Invite>('POST', '/v1/org/users/invite', { args, body: 'flat', answer: 'Invite' }, options)
  }

  /**
   * List invites, newest first.
   *
   * Ended invites are listed for 30 days after the day on which they would have expired.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  list(args?: ListInvitesQuery, options?: CallOptions): Pages<Invite, InviteList> {
    return this.callPages<Invite, InviteList>('/v1/org/invites', { args, answer: 'Invite' }, options)
  }

  /**
   * Send an invite again, with another token; the token before no longer works.
   *
   * Works for a pending or an expired invite. The new link works for 7 days, and the invite belongs to its new sender.
   * An API key grants no role that can do more than the key (`role_limit`): `admin` takes every scope, `approver` the
   * scope `escalate`, `developer` the scopes attest, verify, intent and screen, each without an end, `ip_allow` or
   * `products`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  resend(inviteId: string, options?: CallOptions): Call<Invite> {
    return this.callJson<Invite>('POST', path`/v1/org/invites/${inviteId}/resend`, { answer: 'Invite' }, options)
  }

  /**
   * Read one invite.
   *
   * Ended invites are kept for 30 days after the day on which they would have expired.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  retrieve(inviteId: string, options?: CallOptions): Call<Invite> {
    return this.callJson<Invite>('GET', path`/v1/org/invites/${inviteId}`, { answer: 'Invite' }, options)
  }

  /**
   * Revoke an invite.
   *
   * Its link no longer works. Revoking an invite that was revoked or has expired changes nothing.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. A rate limit of its own, for emergencies.
   */
  revoke(inviteId: string, options?: CallOptions): Call<Invite> {
    return this.callJson<Invite>('DELETE', path`/v1/org/invites/${inviteId}`, { answer: 'Invite' }, options)
  }
}

export class OrgUsersMethods extends Group {
  /**
   * Remove a user; their sessions end at once, and only an invite makes them a user again.
   *
   * Removing a removed user changes nothing. API keys that the user created go on working, and are listed. The last
   * owner can’t be removed, and removing an owner takes a session that began less than 10 minutes ago. Possible on every
   * plan.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin.
   */
  delete(userId: string, options?: CallOptions): Call<UserRemoval> {
    return this.callJson<UserRemoval>('DELETE', path`/v1/org/users/${userId}`, { answer: 'flat' }, options)
  }

  /**
   * Leave the account: remove yourself, whatever your role.
   *
   * The last owner can’t leave. An owner leaves with a session that began less than 10 minutes ago.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  leave(options?: CallOptions): Call<UserRemoval> {
    return this.callJson<UserRemoval>('DELETE', '/v1/org/users/me', { answer: 'flat' }, options)
  }

  /**
   * List the users of the account, newest first; removed ones too.
   *
   * A removed user stays listed: a removed address returns only by an invite, and the audit log names the id.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListUsersQuery, options?: CallOptions): Pages<User, UserList> {
    return this.callPages<User, UserList>('/v1/org/users', { args, answer: 'flat' }, options)
  }

  /**
   * Read one user, removed ones too.
   *
   * `status` is `deprovisioned` after the user was removed, or left.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(userId: string, options?: CallOptions): Call<User> {
    return this.callJson<User>('GET', path`/v1/org/users/${userId}`, { answer: 'flat' }, options)
  }

  /**
   * Change the role of a user.
   *
   * The sessions of the user end; the session that changes its own user’s role goes on with new cookies. Only an owner
   * whose session began less than 10 minutes ago grants or takes the role owner, and no API key does. An API key grants
   * no role that can do more than the key (`role_limit`): `admin` takes every scope, `approver` the scope `escalate`,
   * `developer` the scopes attest, verify, intent and screen, each without an end, `ip_allow` or `products`. The last
   * owner keeps it. Pending invites that the user could not send any more are revoked. API keys that the user created go
   * on working, and are listed.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
   */
  update(userId: string, args: ChangeUserRoleRequest, options?: CallOptions): Call<UserRoleChange> {
    return this.callJson<UserRoleChange>('PATCH', path`/v1/org/users/${userId}`, { args, body: 'flat', answer: 'flat' }, options)
  }
}

export class OrgMethods extends Group {
  readonly invites: OrgInvitesMethods
  readonly users: OrgUsersMethods

  constructor(transport: Transport) {
    super(transport)
    this.invites = new OrgInvitesMethods(transport)
    this.users = new OrgUsersMethods(transport)
  }

}

export class OverviewChangelogMethods extends Group {
  /**
   * List the versions of this service, newest first, and what changed in each.
   *
   * The changelog of this service as data. With `If-None-Match` the answer is 304 until the changelog has changed.
   *
   * No key is needed. Readers look at it before they have a key.
   */
  list(options?: CallOptions): Pages<ChangelogVersion, ChangelogVersionList> {
    return this.callPages<ChangelogVersion, ChangelogVersionList>('/v1/changelog', { answer: 'ChangelogVersion' }, options)
  }
}

export class OverviewReasonCodesMethods extends Group {
  /**
   * List every reason code: where it appears, what it means, and what to do about it.
   *
   * All of them in one page, in the order in which they are answered. Rules of a policy may answer with reasons of their
   * own, which are not here. The same texts are in [the guide](https://api.example.test/docs/authorize/reasons).
   *
   * No key is needed. Pages and tools explain codes without a key.
   */
  list(options?: CallOptions): Pages<ReasonCode, ReasonCodeList> {
    return this.callPages<ReasonCode, ReasonCodeList>('/v1/reason-codes', { answer: 'flat' }, options)
  }
}

export class OverviewRolesMethods extends Group {
  /**
   * List the roles of users, and what each may do.
   *
   * All of them in one page, the one with the most permissions first. What a session may do is in `permissions` of `GET
   * /v1/auth/session`: the plan and the state of the account take some away.
   *
   * No key is needed. It is published at /docs/roles as well.
   */
  list(options?: CallOptions): Pages<RoleEntry, RoleEntryList> {
    return this.callPages<RoleEntry, RoleEntryList>('/v1/roles', { answer: 'RoleEntry' }, options)
  }
}

export class OverviewMethods extends Group {
  readonly changelog: OverviewChangelogMethods
  readonly reasonCodes: OverviewReasonCodesMethods
  readonly roles: OverviewRolesMethods

  constructor(transport: Transport) {
    super(transport)
    this.changelog = new OverviewChangelogMethods(transport)
    this.reasonCodes = new OverviewReasonCodesMethods(transport)
    this.roles = new OverviewRolesMethods(transport)
  }

  /**
   * Count the work that waits for you, in all products.
   *
   * Counts what waits for the caller, in one environment. Each part is shown to those who may call the route that lists
   * its rows; another part is null, and `not_readable` names it. Counts go to 1,000. See [the
   * overview](https://api.example.test/docs/reference/overview).
   *
   * Any API key. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(options?: CallOptions): Call<Overview> {
    return this.callJson<Overview>('GET', '/v1/overview', { answer: 'Overview' }, options)
  }

  /**
   * Find an object by the beginning of its id or name.
   *
   * Finds objects of one environment whose id, claim reference or external id begins with the text, members of the
   * account by their e-mail address, and agents by their name, in any case. It shows only what the caller may read by
   * the routes of that type. An id is searched from its type on, such as `clm_`. See [the
   * overview](https://api.example.test/docs/reference/overview#search).
   *
   * Any API key. Sessions: owner, admin, approver, analyst, developer.
   */
  search(args: SearchEverythingQuery, options?: CallOptions): Call<SearchResults> {
    return this.callJson<SearchResults>('GET', '/v1/search', { args, answer: 'SearchResults' }, options)
  }
}

export class PasskeysMethods extends Group {
  /**
   * Begin to register a passkey.
   *
   * Takes the session of a user who signed in less than 10 minutes ago (`session_required` otherwise), and no API key: a
   * passkey outlives the session. It is valid for five minutes at most, and a session has one registration at a time.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  beginRegistration(options?: CallOptions): Call<PasskeyRegistration> {
    return this.callJson<PasskeyRegistration>('POST', '/v1/passkeys/registration-options', { answer: 'flat' }, options)
  }

  /**
   * Remove one of your passkeys. Nothing can be confirmed with it any more.
   *
   * The removal takes effect with the commit, in every process: a confirmation that is checked meanwhile is refused. The
   * user is told by mail.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer. A rate limit of its own, for
   * emergencies.
   */
  delete(passkeyId: string, options?: CallOptions): Call<DeletedPasskey> {
    return this.callJson<DeletedPasskey>('DELETE', path`/v1/passkeys/${passkeyId}`, { answer: 'flat' }, options)
  }

  /**
   * List your own passkeys, newest first.
   *
   * Lists passkeys of the signed-in user only, whatever the environment.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  list(args?: ListPasskeysQuery, options?: CallOptions): Pages<Passkey, PasskeyList> {
    return this.callPages<Passkey, PasskeyList>('/v1/passkeys', { args, answer: 'flat' }, options)
  }

  /**
   * Register a passkey with what the authenticator answered.
   *
   * `response` is the result of `toJSON()` on the new credential. The authenticator must have verified the user, the
   * algorithm must be ES256, EdDSA or RS256 (2,048 to 4,096 bits), and attestation statements with certificates are
   * refused. The user is told by mail.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  register(args: RegisterPasskeyRequest, options?: CallOptions): Call<Passkey> {
    return this.callJson<Passkey>('POST', '/v1/passkeys/register', { args, body: 'flat', answer: 'flat' }, options)
  }

  /**
   * Read one of your passkeys.
   *
   * A passkey of another user is not found.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  retrieve(passkeyId: string, options?: CallOptions): Call<Passkey> {
    return this.callJson<Passkey>('GET', path`/v1/passkeys/${passkeyId}`, { answer: 'flat' }, options)
  }

  /**
   * Give one of your passkeys another name.
   *
   * Only the owner sees the name.
   *
   * No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
   */
  update(passkeyId: string, args: RenamePasskeyRequest, options?: CallOptions): Call<Passkey> {
    return this.callJson<Passkey>('PATCH', path`/v1/passkeys/${passkeyId}`, { args, body: 'flat', answer: 'flat' }, options)
  }
}

export class PolicyShadowReportMethods extends Group {
  /**
   * Report what the shadow rules would have done, and where they differ from the answers.
   *
   * Reads the recorded rule results. A page examines at most 2,000 decisions, and fewer where decisions are long. Ask
   * for the next page while `has_more`, and add up the numbers of each rule. As NDJSON, a rule has one line for each
   * page.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: GetShadowReportQuery, options?: CallOptions): Pages<ShadowRule, PolicyShadowReport> {
    return this.callPages<ShadowRule, PolicyShadowReport>('/v1/policy/shadow-report', { args, answer: 'flat' }, options)
  }
}

export class PolicyVersionsMethods extends Group {
  /**
   * List all versions of the policy, newest first, and who made each.
   *
   * A version never changes. `policy_version` of a decision is one of these, or 0.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListPolicyVersionsQuery, options?: CallOptions): Pages<PolicyVersionSummary, PolicyVersionSummaryList> {
    return this.callPages<PolicyVersionSummary, PolicyVersionSummaryList>('/v1/policy/versions', { args, answer: 'PolicyVersionSummary' }, options)
  }

  /**
   * Read one version of the policy.
   *
   * Version 0 is the defaults.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(version: string, options?: CallOptions): Call<Policy> {
    return this.callJson<Policy>('GET', path`/v1/policy/versions/${version}`, { answer: 'Policy' }, options)
  }
}

export class PolicyWebhookSecretMethods extends Group {
  /**
   * Read when the secret that signs questions to policy webhooks was rotated.
   *
   * Each environment of an account has its own secret. The secret itself can not be read.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<PolicyWebhookSecret> {
    return this.callJson<PolicyWebhookSecret>('GET', '/v1/policy/webhook-secret', { answer: 'PolicyWebhookSecret' }, options)
  }

  /**
   * Make a new secret for policy webhooks. It is in this answer only.
   *
   * The first call makes the first secret: until then no webhook is called, and each webhook rule that matches denies
   * with `policy_webhook_unavailable`. The previous secret signs as well for `grace_seconds` (24 hours when absent), so
   * that receivers can be changed one after the other; another rotation ends it at once.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  rotate(args?: RotatePolicyWebhookSecretRequest, options?: CallOptions): Call<RotatedPolicyWebhookSecret> {
    return this.callJson<RotatedPolicyWebhookSecret>('POST', '/v1/policy/webhook-secret/rotate', { args, body: 'flat', answer: 'RotatedPolicyWebhookSecret' }, options)
  }
}

export class PolicyMethods extends Group {
  readonly shadowReport: PolicyShadowReportMethods
  readonly versions: PolicyVersionsMethods
  readonly webhookSecret: PolicyWebhookSecretMethods

  constructor(transport: Transport) {
    super(transport)
    this.shadowReport = new PolicyShadowReportMethods(transport)
    this.versions = new PolicyVersionsMethods(transport)
    this.webhookSecret = new PolicyWebhookSecretMethods(transport)
  }

  /**
   * Find rules that always deny, never match or never give the reason, and more.
   *
   * A finding that says always or never is proven, whatever the facts; that there is none proves nothing.
   * `ineffective_when_missing` is about deny rules, `unknown_policy_field` about stored documents. No webhook is called:
   * `webhook_unreachable` is about its address, and `webhook_without_secret` means that the account has no secret to
   * sign questions with, so that each of them goes unanswered and refuses.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  analyze(args?: AnalyzePolicyRequest, options?: CallOptions): Call<PolicyAnalysis> {
    return this.callJson<PolicyAnalysis>('POST', '/v1/policy/analyze', { args, body: 'flat', answer: 'PolicyAnalysis' }, options)
  }

  /**
   * Find past verifications that another policy would answer differently.
   *
   * Evaluates the document over the facts that verify recorded. A page examines at most 2,000 decisions, and fewer where
   * decisions or the document are long. Ask for the next page while `has_more`, and add up the numbers. Webhooks and
   * canaries answer as they did at the time.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  replay(args: ReplayPolicyRequest, options?: CallOptions): Call<PolicyReplay> {
    return this.callJson<PolicyReplay>('POST', '/v1/policy/replay', { args, body: 'flat', answer: 'PolicyReplay' }, options)
  }

  /**
   * Read the current policy, with its version as ETag.
   *
   * Per account and environment. `version` 0 is the defaults, which count until a policy is set. To change it, change
   * `document` and send it back, with the ETag as `If-Match`. See the
   * [guide](https://api.example.test/docs/authorize/policy).
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<Policy> {
    return this.callJson<Policy>('GET', '/v1/policy', { answer: 'Policy' }, options)
  }

  /**
   * Make a new version with the document of an earlier one.
   *
   * The earlier document becomes a new version; earlier versions stay.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  rollback(args: RollBackPolicyRequest & {
      /** Optional. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<Policy> {
    return this.callJson<Policy>('POST', '/v1/policy/rollback', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'Policy' }, options)
  }

  /**
   * Evaluate a policy on given facts, with the result of each rule.
   *
   * Evaluates the stored policy, one of its versions or the document in the body. It calls no webhook and reads no
   * canary: `needs` says what verify would ask, and you may send the replies in `answers`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  simulate(args: SimulatePolicyRequest, options?: CallOptions): Call<PolicySimulation> {
    return this.callJson<PolicySimulation>('POST', '/v1/policy/simulate', { args, body: 'SimulatePolicyRequest', answer: 'PolicySimulation' }, options)
  }

  /**
   * Replace the policy by a new version.
   *
   * Makes a new version, which applies to every later decision; the same document again makes none. Without `If-Match`
   * the answer is 428, and with the ETag of another version 412. Unknown members and fields are refused: they could be
   * constraints. Try the document first: `/validate`, `/analyze`, `/simulate` and `/replay`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(args: ReplacePolicyRequest & {
      /** Required. The ETag of the version to replace, such as `"3"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<Policy> {
    return this.callJson<Policy>('PUT', '/v1/policy', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'Policy' }, options)
  }

  /**
   * Check whether a document would be accepted, with every finding.
   *
   * Checks whether PUT would accept the document. Pointers begin at the document. `findings` names deny rules of a valid
   * document that a missing field turns off; such rules are accepted.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  validate(args: ValidatePolicyRequest, options?: CallOptions): Call<PolicyValidation> {
    return this.callJson<PolicyValidation>('POST', '/v1/policy/validate', { args, body: 'flat', answer: 'PolicyValidation' }, options)
  }
}

export class SchedulesCyclesMethods extends Group {
  /**
   * List the cycles of all schedules that begin in a period.
   *
   * Shows which payments are due, and which were made or missed, by schedule, the newest first, and within it by time.
   * For cycles in the future it assumes that each earlier cycle is executed. A page reads 200 schedules: it may have few
   * cycles, or none, and still a next page.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListScheduleCyclesQuery, options?: CallOptions): Pages<DueScheduleCycle, DueScheduleCycleList> {
    return this.callPages<DueScheduleCycle, DueScheduleCycleList>('/v1/schedules/cycles', { args, answer: 'flat' }, options)
  }
}

export class SchedulesMethods extends Group {
  readonly cycles: SchedulesCyclesMethods

  constructor(transport: Transport) {
    super(transport)
    this.cycles = new SchedulesCyclesMethods(transport)
  }

  /**
   * Cancel a standing schedule permanently, from the next decision on.
   *
   * From the commit on, a verification answers `schedule_occurrences_exhausted`. The cancellation is permanent. A
   * schedule that is cancelled stays as it is.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
   */
  cancel(scheduleId: string, options?: CallOptions): Call<Schedule> {
    return this.callJson<Schedule>('POST', path`/v1/schedules/${scheduleId}/cancel`, { answer: 'Schedule' }, options)
  }

  /**
   * Set up a standing schedule.
   *
   * A schedule says what an agent may pay to one counterparty, once in each cycle. Cycles begin at `anchor_at` and
   * continue by `frequency` at the same time of day in `timezone`. Tokens name the schedule by `schedule_id`. It needs
   * `escalate`.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateScheduleRequest, options?: CallOptions): Call<Schedule> {
    return this.callJson<Schedule>('POST', '/v1/schedules', { args, body: 'CreateScheduleRequest', answer: 'Schedule' }, options)
  }

  /**
   * List standing schedules, newest first.
   *
   * A schedule must match all filters, and any of the given values of `status`. `exhausted` schedules have used all
   * their occurrences.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListSchedulesQuery, options?: CallOptions): Pages<Schedule, ScheduleList> {
    return this.callPages<Schedule, ScheduleList>('/v1/schedules', { args, answer: 'Schedule' }, options)
  }

  /**
   * Pause a standing schedule, from the next decision on.
   *
   * From the commit on, a verification answers `schedule_window_missed`. Cycles continue meanwhile. A schedule that is
   * paused stays as it is; a cancelled schedule is 409 `invalid_state_transition`.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
   */
  pause(scheduleId: string, options?: CallOptions): Call<Schedule> {
    return this.callJson<Schedule>('POST', path`/v1/schedules/${scheduleId}/pause`, { answer: 'Schedule' }, options)
  }

  /**
   * Preview the next 24 cycles of a standing schedule.
   *
   * Lists the cycles that can be executed, from the current one on, and assumes that each is executed. The calendar
   * shows month ends and changes of clocks before anything is paid. A paused schedule is shown as if it were resumed
   * now; a cancelled schedule has no cycles.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  preview(scheduleId: string, options?: CallOptions): Call<SchedulePreview> {
    return this.callJson<SchedulePreview>('GET', path`/v1/schedules/${scheduleId}/preview`, { answer: 'SchedulePreview' }, options)
  }

  /**
   * Resume a standing schedule that is paused.
   *
   * It needs `escalate`. A schedule that is not paused is 409 `invalid_state_transition`.
   *
   * Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
   */
  resume(scheduleId: string, options?: CallOptions): Call<Schedule> {
    return this.callJson<Schedule>('POST', path`/v1/schedules/${scheduleId}/resume`, { answer: 'Schedule' }, options)
  }

  /**
   * Read one standing schedule, with its current and next cycle.
   *
   * The current and the next cycle are computed at the time of the answer.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(scheduleId: string, options?: CallOptions): Call<Schedule> {
    return this.callJson<Schedule>('GET', path`/v1/schedules/${scheduleId}`, { answer: 'Schedule' }, options)
  }
}

export class ScreeningsBatchesMethods extends Group {
  /**
   * Screen up to 10,000 uploaded images, one JSON value per line or one array.
   *
   * A wrong line does not affect the others: `rejected` says why. Single screenings run before those of a batch. List
   * the screenings of the batch with `GET /v1/media/screenings?screening_batch_id=..`.
   *
   * Scope `screen`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(items: Items<ScreeningLine>, options?: CallOptions): Call<SubmittedScreeningBatch> {
    return this.callBatch<SubmittedScreeningBatch>('/v1/media/screenings/batches', items, { body: 'flat', answer: 'SubmittedScreeningBatch' }, options)
  }

  /**
   * List batches of screenings with their progress, newest first.
   *
   * The refused lines of a batch are a list of their own.
   *
   * Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListScreeningBatchesQuery, options?: CallOptions): Pages<ScreeningBatch, ScreeningBatchList> {
    return this.callPages<ScreeningBatch, ScreeningBatchList>('/v1/media/screenings/batches', { args, answer: 'ScreeningBatch' }, options)
  }

  /**
   * List the refused lines of a batch of screenings, in the order of the input.
   *
   * Each line has the reasons of its refusal. Accepted lines are in `GET /v1/media/screenings?screening_batch_id=..`.
   *
   * Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listRejected(batchId: string, args?: ListRejectedScreeningLinesQuery, options?: CallOptions): Pages<RejectedLine, RejectedLineList> {
    return this.callPages<RejectedLine, RejectedLineList>(path`/v1/media/screenings/batches/${batchId}/rejected`, { args, answer: 'RejectedLine' }, options)
  }

  /**
   * Read the progress of a batch of screenings.
   *
   * `wait` keeps the request open until every accepted line has ended, for that many seconds at most.
   *
   * Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(batchId: string, args?: GetScreeningBatchQuery, options?: CallOptions): Call<ScreeningBatch> {
    return this.callJson<ScreeningBatch>('GET', path`/v1/media/screenings/batches/${batchId}`, { args, answer: 'ScreeningBatch' }, options)
  }
}

export class ScreeningsSettingsMethods extends Group {
  /**
   * Read the scores at which a review is recommended or a factor is raised, with their version as ETag.
   *
   * Each of the two models has two thresholds: a score of at least `review` recommends a review, and a score of at least
   * `likely` raises an advisory factor. `version` 0 is the defaults. To change the thresholds, change `document` and
   * send it back, with the ETag as `If-Match`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<ScreeningSettings> {
    return this.callJson<ScreeningSettings>('GET', '/v1/account/screening', { answer: 'ScreeningSettings' }, options)
  }

  /**
   * Set the scores at which a review is recommended or a factor is raised.
   *
   * The thresholds apply to screenings that end later; ended screenings keep their result. The same document again
   * changes nothing. Without `If-Match` the answer is 428, and with the ETag of another version 412.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(args: ReplaceScreeningSettingsRequest & {
      /** Required. The ETag of the version to replace, such as `"2"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<ScreeningSettings> {
    return this.callJson<ScreeningSettings>('PUT', '/v1/account/screening', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'ScreeningSettings' }, options)
  }
}

export class ScreeningsMethods extends Group {
  readonly batches: ScreeningsBatchesMethods
  readonly settings: ScreeningsSettingsMethods

  constructor(transport: Transport) {
    super(transport)
    this.batches = new ScreeningsBatchesMethods(transport)
    this.settings = new ScreeningsSettingsMethods(transport)
  }

  /**
   * Ask the detector of synthetic media about one image and wait for its scores.
   *
   * Waits up to `Prefer: wait=N` seconds (10 when absent, at most 30): 200 with the scores, or 202 and `Location`. Only
   * images are screened; a video fails with `video`. Without a detector the screening fails with `no_detector`; a score
   * is never invented. Scores are advisory: they never count toward a risk score. The same bytes are scored once per
   * detector, each time with the current thresholds. An address as media is refused: upload the bytes.
   *
   * Scope `screen`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  create(args: ScreenMediaRequest & {
      /**
       * `wait=N`: seconds to wait for the scores, 0 to 30; 10 when absent (RFC 7240). Preference-Applied in the answer says
       * what was applied.
       */
      wait?: number | undefined
    }, options?: CallOptions): Call<Screening> {
    return this.callJson<Screening>('POST', '/v1/media/screen', { args, body: 'ScreenMediaRequest', answer: 'Screening', wait: 'prefer' }, options)
  }

  /**
   * List screenings, newest first.
   *
   * Filters by claim, media, batch, status, factor or time.
   *
   * Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListScreeningsQuery, options?: CallOptions): Pages<Screening, ScreeningList> {
    return this.callPages<Screening, ScreeningList>('/v1/media/screenings', { args, answer: 'Screening' }, options)
  }

  /**
   * Read one screening.
   *
   * `wait` keeps the request open until the screening has ended, for that many seconds at most; `status` says whether it
   * has ended.
   *
   * Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(screeningId: string, args?: GetScreeningQuery, options?: CallOptions): Call<Screening> {
    return this.callJson<Screening>('GET', path`/v1/media/screenings/${screeningId}`, { args, answer: 'Screening' }, options)
  }
}

export class TraceDiffsMethods extends Group {
  /**
   * Cancel a diff that has not ended.
   *
   * A running diff stops within seconds. No event is sent. A cancelled diff stays as it is; a diff that has succeeded or
   * failed is 409 `invalid_state_transition`.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  cancel(diffId: string, options?: CallOptions): Call<TraceDiff> {
    return this.callJson<TraceDiff>('POST', path`/v1/trace/diffs/${diffId}/cancel`, { answer: 'TraceDiff' }, options)
  }

  /**
   * Compare two model versions over an evaluation set.
   *
   * Both models answer every prompt of the set, and the canary readings of their answers are compared. See [comparing
   * model versions](https://api.example.test/docs/trace/diffs).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateTraceDiffRequest, options?: CallOptions): Call<TraceDiff> {
    return this.callJson<TraceDiff>('POST', '/v1/trace/diffs', { args, body: 'CreateTraceDiffRequest', answer: 'TraceDiff' }, options)
  }

  /**
   * List diffs, newest first.
   *
   * The list has the verdicts; the figures are in the reports.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  list(args?: ListTraceDiffsQuery, options?: CallOptions): Pages<TraceDiff, TraceDiffList> {
    return this.callPages<TraceDiff, TraceDiffList>('/v1/trace/diffs', { args, answer: 'TraceDiff' }, options)
  }

  /**
   * Read the status, progress and verdict of one diff.
   *
   * `verdict` is set when `status` is `succeeded`. `wait` waits for the end of the diff.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieve(diffId: string, args?: GetTraceDiffQuery, options?: CallOptions): Call<TraceDiff> {
    return this.callJson<TraceDiff>('GET', path`/v1/trace/diffs/${diffId}`, { args, answer: 'TraceDiff' }, options)
  }

  /**
   * Read the report of a diff that has succeeded.
   *
   * The report has no time and no id: the same models, prompts, thresholds and seed give the same report and hash.
   * `bins` is the histogram from which `psi` is computed. See [comparing model
   * versions](https://api.example.test/docs/trace/diffs).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieveReport(diffId: string, options?: CallOptions): Call<TraceDiffReport> {
    return this.callJson<TraceDiffReport>('GET', path`/v1/trace/diffs/${diffId}/report`, { answer: 'verbatim' }, options)
  }
}

export class TraceDisclosuresMethods extends Group {
  /**
   * Deny a request that is pending.
   *
   * The person is not told.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  deny(requestId: string, options?: CallOptions): Call<DisclosureRequest> {
    return this.callJson<DisclosureRequest>('POST', path`/v1/trace/disclosure-requests/${requestId}/deny`, { answer: 'DisclosureRequest' }, options)
  }

  /**
   * Let the person see the masked neurons, for a time.
   *
   * The person is mailed a link of their own, which shows `masked_node_ids` until `expires_at`, and at most until the
   * share expires. A grant shows all neurons that its share masks: a part would reveal the rest.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  grant(requestId: string, args?: GrantDisclosureRequest, options?: CallOptions): Call<DisclosureRequest> {
    return this.callJson<DisclosureRequest>('POST', path`/v1/trace/disclosure-requests/${requestId}/grant`, { args, body: 'flat', answer: 'DisclosureRequest' }, options)
  }

  /**
   * List requests to see masked neurons.
   *
   * Requests of people whose address is verified, newest first; `status=unverified` lists the others.
   * `status=pending&order=asc` lists the waiting requests, the oldest first.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  list(args?: ListDisclosureRequestsQuery, options?: CallOptions): Pages<DisclosureRequest, DisclosureRequestList> {
    return this.callPages<DisclosureRequest, DisclosureRequestList>('/v1/trace/disclosure-requests', { args, answer: 'DisclosureRequest' }, options)
  }

  /**
   * Ask to see the neurons that a share masks; a code is mailed.
   *
   * Mails a code of 8 digits, which works for 15 minutes. The account learns of the request when the code is entered. An
   * address may send three requests an hour for a share. `Idempotency-Key` is ignored.
   *
   * No key is needed. The token of the share is the credential.
   */
  request(shareId: string, args: RequestDisclosureRequest & {
      /** The token of the share. */
      shareToken?: string | undefined
    }, options?: CallOptions): Call<AskedDisclosure> {
    return this.callJson<AskedDisclosure>('POST', path`/v1/trace/shares/${shareId}/disclosure-requests`, { args, headers: { shareToken: 'Share-Token' }, body: 'flat', answer: 'flat', isOnce: true }, options)
  }

  /**
   * Read one request to see masked neurons.
   *
   * Whether a grant has expired follows from the time of this request.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieve(requestId: string, options?: CallOptions): Call<DisclosureRequest> {
    return this.callJson<DisclosureRequest>('GET', path`/v1/trace/disclosure-requests/${requestId}`, { answer: 'DisclosureRequest' }, options)
  }

  /**
   * End a grant, from the next view on.
   *
   * Ends a grant; a pending request is denied.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
   * emergencies.
   */
  revoke(requestId: string, options?: CallOptions): Call<DisclosureRequest> {
    return this.callJson<DisclosureRequest>('POST', path`/v1/trace/disclosure-requests/${requestId}/revoke`, { answer: 'DisclosureRequest' }, options)
  }

  /**
   * Verify the address of a request by the mailed code.
   *
   * A code has five tries. A code that does not work is `invalid_request` at `/code`, whatever the reason. With the mode
   * `auto` the request is granted at once, and the link is mailed. `Idempotency-Key` is ignored: a code works once.
   *
   * No key is needed. The token of the share is the credential.
   */
  verify(shareId: string, requestId: string, args: VerifyDisclosureRequestRequest & {
      /** The token of the share. */
      shareToken?: string | undefined
    }, options?: CallOptions): Call<AskedDisclosure> {
    return this.callJson<AskedDisclosure>('POST', path`/v1/trace/shares/${shareId}/disclosure-requests/${requestId}/verify`, { args, headers: { shareToken: 'Share-Token' }, body: 'flat', answer: 'flat', isOnce: true }, options)
  }
}

export class TraceEvalSetsMethods extends Group {
  /**
   * Store prompts to compare models with.
   *
   * A set has up to 2,000 conversations, each ending where the assistant would answer. They are stored sealed, and not
   * shown again.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateEvalSetRequest, options?: CallOptions): Call<EvalSet> {
    return this.callJson<EvalSet>('POST', '/v1/trace/eval-sets', { args, body: 'CreateEvalSetRequest', answer: 'EvalSet' }, options)
  }

  /**
   * Delete an evaluation set. Unfinished diffs of it fail.
   *
   * Reports of it stay.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  delete(evalSetId: string, options?: CallOptions): Call<DeletedEvalSet> {
    return this.callJson<DeletedEvalSet>('DELETE', path`/v1/trace/eval-sets/${evalSetId}`, { answer: 'flat' }, options)
  }

  /**
   * List the evaluation sets of the account, newest first.
   *
   * The answer does not contain the prompts.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  list(args?: ListEvalSetsQuery, options?: CallOptions): Pages<EvalSet, EvalSetList> {
    return this.callPages<EvalSet, EvalSetList>('/v1/trace/eval-sets', { args, answer: 'EvalSet' }, options)
  }

  /**
   * Read one evaluation set, without its prompts.
   *
   * The hash identifies the prompts.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
   * developer.
   */
  retrieve(evalSetId: string, options?: CallOptions): Call<EvalSet> {
    return this.callJson<EvalSet>('GET', path`/v1/trace/eval-sets/${evalSetId}`, { answer: 'EvalSet' }, options)
  }
}

export class TraceGraphsMethods extends Group {
  /**
   * Have another service make an attribution graph, and return it unchanged.
   *
   * For models at Neuronpedia. It makes the graph of a replacement model with features of its own, and keeps the prompt,
   * where others can see it. See [models elsewhere](https://api.example.test/docs/trace/backends).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(modelVersionId: string, args: MakeExternalGraphRequest, options?: CallOptions): Call<ExternalGraph> {
    return this.callJson<ExternalGraph>('POST', path`/v1/trace/models/${modelVersionId}/graphs`, { args, body: 'flat', answer: 'flat' }, options)
  }
}

export class TraceInferencesMethods extends Group {
  /**
   * Run a model, and read its canaries.
   *
   * Under `block` and `block_and_lock` no token leaves the process of the model before its canaries were read, and no
   * token leaves it when a family trips: `completion` is null, and the generated tokens count. Under `monitor` the
   * answer has the completion and the families that tripped. A locked session and a suspended agent run no model. A
   * repeat with the same Idempotency-Key has the model complete the same request again and records nothing. It returns
   * the completion where the hash is the same and neither a lock nor the current kill switch refuses it. When the client
   * goes away, the model stops and nothing is stored.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args?: CreateInferenceRequest, options?: CallOptions): Call<Inference> {
    return this.callJson<Inference>('POST', '/v1/trace/inferences', { args, body: 'CreateInferenceRequest', answer: 'Inference' }, options)
  }
}

export class TraceInterventionsMethods extends Group {
  /**
   * Ablate or scale neurons of a trace, and compare the prediction with what happens.
   *
   * The model reads the trace again with the activations of some neurons multiplied by factors, all at once. The answer
   * has each change of a logit beside the change that the frozen model predicts. Nothing is recorded; the request counts
   * as an `inference`. A repeat with the same Idempotency-Key has the model measure again, and does not count.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  create(traceId: string, args: InterveneInTraceRequest, options?: CallOptions): Call<Intervention> {
    return this.callJson<Intervention>('POST', path`/v1/trace/traces/${traceId}/interventions`, { args, body: 'InterveneInTraceRequest', answer: 'Intervention' }, options)
  }
}

export class TraceJobsMethods extends Group {
  /**
   * Cancel an attribution job.
   *
   * No event is sent. A cancelled job stays as it is; a job that has succeeded or failed is 409
   * `invalid_state_transition`.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  cancel(jobId: string, options?: CallOptions): Call<AttributionJob> {
    return this.callJson<AttributionJob>('POST', path`/v1/trace/jobs/${jobId}/cancel`, { answer: 'AttributionJob' }, options)
  }

  /**
   * Start an attribution job, which explains why a model said a token.
   *
   * Explains one token of a completion. A trace that keeps hashes alone needs its `input` again, which is compared with
   * `prompt_hash`; the model completes it again, which is compared with `completion_hash`. What a withheld completion
   * says is never explained. A method that the model has not is refused, and `errors` names those that it has. Counts
   * when it succeeds. See [attribution](https://api.example.test/docs/trace/attribution).
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateAttributionJobRequest, options?: CallOptions): Call<AttributionJob> {
    return this.callJson<AttributionJob>('POST', '/v1/trace/jobs', { args, body: 'CreateAttributionJobRequest', answer: 'AttributionJob' }, options)
  }

  /**
   * List attribution jobs, newest first.
   *
   * `trace_id` lists the jobs of one trace; a value that is no id of a trace is `not_found`.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListAttributionJobsQuery, options?: CallOptions): Pages<AttributionJob, AttributionJobList> {
    return this.callPages<AttributionJob, AttributionJobList>('/v1/trace/jobs', { args, answer: 'AttributionJob' }, options)
  }

  /**
   * Read the status and progress of an attribution job.
   *
   * `failed` and `cancelled` jobs have no manifest; `failure.code` says why. `wait` waits for the end of the job.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(jobId: string, args?: GetAttributionJobQuery, options?: CallOptions): Call<AttributionJob> {
    return this.callJson<AttributionJob>('GET', path`/v1/trace/jobs/${jobId}`, { args, answer: 'AttributionJob' }, options)
  }

  /**
   * Download the graph, in the schema of Neuronpedia and circuit-tracer.
   *
   * The answer is `not_ready` until the job has succeeded. Like texts, the manifest is kept for 30 days and no longer
   * than its trace, because it contains the prompt. The SHA-256 of the body is `manifest_hash`, unless `compat` is asked
   * for.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieveManifest(jobId: string, args?: GetAttributionManifestQuery, options?: CallOptions): Call<AttributionManifest> {
    return this.callJson<AttributionManifest>('GET', path`/v1/trace/jobs/${jobId}/manifest`, { args, answer: 'verbatim' }, options)
  }
}

export class TraceKillSwitchMethods extends Group {
  /**
   * Preview what a kill switch would have done in the last 7 days.
   *
   * Send a draft document: the checks and the inferences of the last 7 days are re-evaluated by it. Nothing is changed.
   * At most 5,000 checks and 5,000 inferences are judged, the newest. Verifications are left out: a condition of a
   * policy refuses whatever the mode.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  preview(args: PreviewKillSwitchRequest, options?: CallOptions): Call<KillSwitchPreview> {
    return this.callJson<KillSwitchPreview>('POST', '/v1/trace/kill-switch/preview', { args, body: 'flat', answer: 'KillSwitchPreview' }, options)
  }

  /**
   * Read the kill switch, which says what a canary trip does, with its version as ETag.
   *
   * Each environment of an account has its own kill switch. The default is `monitor`: readings are judged, and no
   * request is refused. To change it, change `document` and send it back, with the ETag as `If-Match`.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(options?: CallOptions): Call<KillSwitch> {
    return this.callJson<KillSwitch>('GET', '/v1/trace/kill-switch', { answer: 'KillSwitch' }, options)
  }

  /**
   * Replace the kill switch, from the next check on.
   *
   * Replaces the whole document: members that are absent get their defaults; the same document again changes nothing.
   * Without `If-Match` the answer is 428, and with the ETag of another version 412; in an emergency `*` replaces any
   * version. A change of the mode clears no lock. Other requests do not count against the rate limit of this one.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate limit of
   * its own, for emergencies.
   */
  update(args: ReplaceKillSwitchRequest & {
      /** Required. The ETag of the version to replace, such as `"2"`, or `*` for any. */
      ifMatch: string
    }, options?: CallOptions): Call<KillSwitch> {
    return this.callJson<KillSwitch>('PUT', '/v1/trace/kill-switch', { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'KillSwitch' }, options)
  }
}

export class TraceLocksMethods extends Group {
  /**
   * Clear a session lock after a review.
   *
   * A person decides that the session may go on. `agent_unsuspended` is false where the lock suspended no agent, and
   * where the agent stays suspended by another lock or manually. A lock is cleared once: a second request is 409. The
   * decision ledger has the note.
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  clear(lockId: string, args?: ClearSessionLockRequest, options?: CallOptions): Call<ClearedLock> {
    return this.callJson<ClearedLock>('POST', path`/v1/trace/session-locks/${lockId}/clear`, { args, body: 'flat', answer: 'flat' }, options)
  }

  /**
   * List session locks.
   *
   * Lists sessions and agents that canary trips locked under `block_and_lock`. `status=locked` lists the locks that wait
   * for a review, with `order=asc` the oldest first. An agent session has one live lock at most; an agent may be held by
   * the locks of several sessions.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListSessionLocksQuery, options?: CallOptions): Pages<SessionLock, SessionLockList> {
    return this.callPages<SessionLock, SessionLockList>('/v1/trace/session-locks', { args, answer: 'SessionLock' }, options)
  }

  /**
   * Read one session lock.
   *
   * `trace_id` leads to the readings that tripped.
   *
   * Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(lockId: string, options?: CallOptions): Call<SessionLock> {
    return this.callJson<SessionLock>('GET', path`/v1/trace/session-locks/${lockId}`, { answer: 'SessionLock' }, options)
  }
}

export class TraceModelsMethods extends Group {
  /**
   * List the models of this installation.
   *
   * Lists the models that a request can name as `model`. `usable` is false for a file that can not be loaded. All models
   * are on one page.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(options?: CallOptions): Pages<Model, ModelList> {
    return this.callPages<Model, ModelList>('/v1/trace/models', { answer: 'Model' }, options)
  }

  /**
   * Read one model: its capabilities, its version and its canary probes.
   *
   * `model_version_id` names the exact file that ran: the model and the beginning of the SHA-256 of its file. The card
   * of a probe has its measurements on transcripts that it was not trained on (`held_out`: completions that a script
   * wrote), and how often it trips on benign completions of the model itself (`generated`).
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(modelVersionId: string, options?: CallOptions): Call<Model> {
    return this.callJson<Model>('GET', path`/v1/trace/models/${modelVersionId}`, { answer: 'Model' }, options)
  }
}

export class TraceSharesMethods extends Group {
  /**
   * Share a trace. The token is in this answer only.
   *
   * Shows the canary readings of a trace, and with `job_id` the graph of its attribution job, to everybody who has the
   * token. Neurons are masked by `masked_node_ids` and `mask_rule`; [what masking
   * hides](https://api.example.test/docs/trace/shares) says how. A share masks at least what every share of the trace
   * masks, and from now on the others mask what this one does. `shown_before` counts what was seen before that. Without
   * `reveals_prompt` a graph shows the last position of the text, and all before it as one node for each message; a text
   * of fewer than 16 tokens of content is 400. With it, somebody with the file of the model finds the prompt, and by it
   * every masked neuron. 409 where another share of the trace shows another job, for the mode `auto` where a grant would
   * show what a manual share masks, and for `reveals_prompt` where another share masks neurons without it: `errors`
   * names the member.
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateTraceShareRequest, options?: CallOptions): Call<CreatedTraceShare> {
    return this.callJson<CreatedTraceShare>('POST', '/v1/trace/shares', { args, body: 'CreateTraceShareRequest', answer: 'CreatedTraceShare' }, options)
  }

  /**
   * List shares, newest first.
   *
   * `status=active` lists the shares that can be viewed.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListTraceSharesQuery, options?: CallOptions): Pages<TraceShare, TraceShareList> {
    return this.callPages<TraceShare, TraceShareList>('/v1/trace/shares', { args, answer: 'TraceShare' }, options)
  }

  /**
   * List the views of a share, newest first.
   *
   * Every view is one entry. Addresses are truncated before they are stored.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  listViews(shareId: string, args?: ListShareViewsQuery, options?: CallOptions): Pages<ShareView, ShareViewList> {
    return this.callPages<ShareView, ShareViewList>(path`/v1/trace/shares/${shareId}/views`, { args, answer: 'flat' }, options)
  }

  /**
   * Read one share, without its token.
   *
   * A share that has ended still masks in the others: a viewer may have kept its graph.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(shareId: string, options?: CallOptions): Call<TraceShare> {
    return this.callJson<TraceShare>('GET', path`/v1/trace/shares/${shareId}`, { answer: 'TraceShare' }, options)
  }

  /**
   * End a share and every grant of it, from the next view on.
   *
   * A share that has ended stays as it is. Pending requests end too.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
   */
  revoke(shareId: string, options?: CallOptions): Call<TraceShare> {
    return this.callJson<TraceShare>('POST', path`/v1/trace/shares/${shareId}/revoke`, { answer: 'TraceShare' }, options)
  }

  /**
   * Rename a share, or change its end.
   *
   * The token stays the same. Pending requests wait until the new end, and a grant ends with the share at the latest. A
   * share that has expired or was revoked keeps its end and can only be renamed: a new end is 409. The audit log records
   * the change (`share.changed`).
   *
   * Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(shareId: string, args?: UpdateTraceShareRequest, options?: CallOptions): Call<TraceShare> {
    return this.callJson<TraceShare>('PATCH', path`/v1/trace/shares/${shareId}`, { args, body: 'flat', answer: 'TraceShare' }, options)
  }

  /**
   * View a share, with its token or the token of a grant.
   *
   * Takes the token of the share, or the token of a grant, which shows the neurons that the share masked when the grant
   * was made. `reveals_prompt` says whether the graph has single positions. Each view is recorded. Every token that
   * shows nothing is 404, whatever the reason.
   *
   * No key is needed. The token of the share is the credential.
   */
  view(args?: {
      /** The token of the share or of a grant. */
      shareToken?: string | undefined
    }, options?: CallOptions): Call<SharedView> {
    return this.callJson<SharedView>('GET', '/v1/trace/shares/view', { args, headers: { shareToken: 'Share-Token' }, answer: 'SharedView' }, options)
  }
}

export class TraceTextsMethods extends Group {
  /**
   * Erase the texts of a trace permanently; hashes and readings stay.
   *
   * The erasure is immediate and permanent. It deletes the texts that `retain` kept, and the manifests of all
   * attribution jobs of the trace, which contain the prompt. Jobs that have not ended are cancelled, and shares show the
   * readings only. Hashes, readings and the entries of the decision ledger stay. The answer is the trace, with
   * `text_until` null. The audit log records it (`trace_texts.erased`). A repeat changes nothing.
   *
   * Scope `admin`. Sessions: owner, admin; in sandbox also developer.
   */
  delete(traceId: string, options?: CallOptions): Call<Trace> {
    return this.callJson<Trace>('DELETE', path`/v1/trace/traces/${traceId}/texts`, { answer: 'Trace' }, options)
  }

  /**
   * Read the texts of a trace, where they are kept.
   *
   * Use this to review a lock. Only inferences with `retain: "text"` keep their texts; for other traces the answer is
   * `text_not_kept`. A withheld completion is never stored. Each read is in the audit log (`trace_texts.read`).
   *
   * Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
   */
  retrieve(traceId: string, options?: CallOptions): Call<TraceTexts> {
    return this.callJson<TraceTexts>('GET', path`/v1/trace/traces/${traceId}/texts`, { answer: 'TraceTexts' }, options)
  }
}

export class TraceTokensMethods extends Group {
  /**
   * List the tokens of a completion, in their order.
   *
   * Texts, token ids and `lens` need an inference with `retain: "text"`; `lens` needs the model version that ran it. A
   * withheld completion has no tokens. A window is read every 4 tokens and at the end.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(traceId: string, args?: ListTraceTokensQuery, options?: CallOptions): Pages<TracedToken, TracedTokenList> {
    return this.callPages<TracedToken, TracedTokenList>(path`/v1/trace/traces/${traceId}/tokens`, { args, answer: 'TracedToken' }, options)
  }
}

export class TraceTracesMethods extends Group {
  /**
   * List traces, newest first.
   *
   * Readings are kept as long as the decision ledger, by plan.
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  list(args?: ListTracesQuery, options?: CallOptions): Pages<Trace, TraceList> {
    return this.callPages<Trace, TraceList>('/v1/trace/traces', { args, answer: 'Trace' }, options)
  }

  /**
   * Read one trace with its canary readings.
   *
   * `canary.hash` covers the readings, their time, their set, the model version, the runtime and the id of the trace.
   * Everything that it covers is in the answer: see
   * [canaries](https://api.example.test/docs/trace/canaries#the-hash-of-a-reading).
   *
   * Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
   */
  retrieve(traceId: string, options?: CallOptions): Call<Trace> {
    return this.callJson<Trace>('GET', path`/v1/trace/traces/${traceId}`, { answer: 'Trace' }, options)
  }
}

export class TraceMethods extends Group {
  readonly diffs: TraceDiffsMethods
  readonly disclosures: TraceDisclosuresMethods
  readonly evalSets: TraceEvalSetsMethods
  readonly graphs: TraceGraphsMethods
  readonly inferences: TraceInferencesMethods
  readonly interventions: TraceInterventionsMethods
  readonly jobs: TraceJobsMethods
  readonly killSwitch: TraceKillSwitchMethods
  readonly locks: TraceLocksMethods
  readonly models: TraceModelsMethods
  readonly shares: TraceSharesMethods
  readonly texts: TraceTextsMethods
  readonly tokens: TraceTokensMethods
  readonly traces: TraceTracesMethods

  constructor(transport: Transport) {
    super(transport)
    this.diffs = new TraceDiffsMethods(transport)
    this.disclosures = new TraceDisclosuresMethods(transport)
    this.evalSets = new TraceEvalSetsMethods(transport)
    this.graphs = new TraceGraphsMethods(transport)
    this.inferences = new TraceInferencesMethods(transport)
    this.interventions = new TraceInterventionsMethods(transport)
    this.jobs = new TraceJobsMethods(transport)
    this.killSwitch = new TraceKillSwitchMethods(transport)
    this.locks = new TraceLocksMethods(transport)
    this.models = new TraceModelsMethods(transport)
    this.shares = new TraceSharesMethods(transport)
    this.texts = new TraceTextsMethods(transport)
    this.tokens = new TraceTokensMethods(transport)
    this.traces = new TraceTracesMethods(transport)
  }

  /**
   * Check whether an agent may continue, by its canary readings.
   *
   * Send stored readings (`trace_id`), readings of a model of your own (`readings`, `reading_at`, `canary_set`), or
   * `inference_input`: a model of the service completes it within 5 seconds, and its readings are stored as a trace of
   * source `server`. The completion is not stored. The kill switch names the model and how far it reads (`reading`). The
   * newest trip of the session or its agent refuses for `max_age_s`, whatever readings you send. Continue only when
   * `allowed` is true. Readings that you send are a trace of source `client`: they can refuse and lock, and satisfy no
   * condition of a policy. Each check is an entry of the decision ledger. A repeat with the same Idempotency-Key judges
   * the same readings anew and records nothing.
   *
   * Scope `intent`. Sessions: owner, admin; in sandbox also developer.
   */
  check(args?: CheckCanariesRequest, options?: CallOptions): Call<CanaryCheck> {
    return this.callJson<CanaryCheck>('POST', '/v1/trace/check', { args, body: 'CheckCanariesRequest', answer: 'flat' }, options)
  }
}

export class WebhooksDeliveriesMethods extends Group {
  /**
   * Export deliveries with the headers and answers of their attempts as NDJSON, oldest first.
   *
   * The export has one line per delivery, with all of its attempts. It leaves out deliveries that are created after the
   * request. The export is recorded in the audit log before it begins.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  export(args?: ExportDeliveriesQuery, options?: CallOptions): Lines<DeliveryLine> {
    return this.callLines<DeliveryLine>('/v1/webhook-deliveries/export', { args, answer: 'DeliveryLine' }, options)
  }

  /**
   * List the deliveries to all endpoints with every attempt, newest first.
   *
   * Same as the list of one endpoint. `status=failed` lists the deliveries whose attempts are spent.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  list(args?: ListAllDeliveriesQuery, options?: CallOptions): Pages<Delivery, DeliveryList> {
    return this.callPages<Delivery, DeliveryList>('/v1/webhook-deliveries', { args, answer: 'Delivery' }, options)
  }

  /**
   * List the deliveries to an endpoint with every attempt, newest first.
   *
   * Each attempt shows what was sent, what was answered, how long each phase took, and when the next attempt is due.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  listForEndpoint(webhookEndpointId: string, args?: ListDeliveriesQuery, options?: CallOptions): Pages<Delivery, DeliveryList> {
    return this.callPages<Delivery, DeliveryList>(path`/v1/webhook-endpoints/${webhookEndpointId}/deliveries`, { args, answer: 'Delivery' }, options)
  }

  /**
   * Send one delivery again now, whatever its status.
   *
   * Sends the same event, with the same `event_id`, in a new round of attempts. The delivery goes before others, also
   * while the circuit of the endpoint is open.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  redeliver(webhookEndpointId: string, deliveryId: string, options?: CallOptions): Call<FullDelivery> {
    return this.callJson<FullDelivery>('POST', path`/v1/webhook-endpoints/${webhookEndpointId}/deliveries/${deliveryId}/redeliver`, { answer: 'FullDelivery' }, options)
  }

  /**
   * Read one delivery: what was sent and what was answered, in each attempt.
   *
   * Finds the delivery by its id alone. Each attempt has the headers as sent, signatures included, and the answer: its
   * headers, and the first 16 KiB of its body. `body` is null after 30 days, when the event is deleted.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(deliveryId: string, options?: CallOptions): Call<FullDelivery> {
    return this.callJson<FullDelivery>('GET', path`/v1/webhook-deliveries/${deliveryId}`, { answer: 'FullDelivery' }, options)
  }

  /**
   * Read one delivery: what was sent and what was answered, in each attempt.
   *
   * Each attempt has the headers as sent, signatures included, and the answer: its headers, and the first 16 KiB of its
   * body. `body` is null after 30 days, when the event is deleted.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieveForEndpoint(webhookEndpointId: string, deliveryId: string, options?: CallOptions): Call<FullDelivery> {
    return this.callJson<FullDelivery>('GET', path`/v1/webhook-endpoints/${webhookEndpointId}/deliveries/${deliveryId}`, { answer: 'FullDelivery' }, options)
  }
}

export class WebhooksRecoveriesMethods extends Group {
  /**
   * Send again, in the background, all deliveries since a time that the endpoint did not accept.
   *
   * The recovery runs in the background, has no upper limit and continues after a crash. Its deliveries go behind new
   * ones, within the limits of the endpoint.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(webhookEndpointId: string, args: RecoverWebhookEndpointRequest, options?: CallOptions): Call<WebhookRecovery> {
    return this.callJson<WebhookRecovery>('POST', path`/v1/webhook-endpoints/${webhookEndpointId}/recover`, { args, body: 'flat', answer: 'WebhookRecovery' }, options)
  }

  /**
   * List the recoveries of an endpoint with their progress, newest first.
   *
   * Each recovery shows its progress.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  list(webhookEndpointId: string, args?: ListRecoveriesQuery, options?: CallOptions): Pages<WebhookRecovery, WebhookRecoveryList> {
    return this.callPages<WebhookRecovery, WebhookRecoveryList>(path`/v1/webhook-endpoints/${webhookEndpointId}/recoveries`, { args, answer: 'WebhookRecovery' }, options)
  }

  /**
   * Read one recovery with its progress.
   *
   * The status `cancelled` means that the endpoint was disabled or deleted meanwhile.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(webhookEndpointId: string, recoveryId: string, args?: GetRecoveryQuery, options?: CallOptions): Call<WebhookRecovery> {
    return this.callJson<WebhookRecovery>('GET', path`/v1/webhook-endpoints/${webhookEndpointId}/recoveries/${recoveryId}`, { args, answer: 'WebhookRecovery' }, options)
  }
}

export class WebhooksStatsMethods extends Group {
  /**
   * Delivery statistics of an endpoint.
   *
   * Covers 24 hours or 7 days: the current hour and the whole hours before it. `arrival_ms` is the time from the event
   * to the 2xx, waits between attempts included; `response_ms` is the time of each call. Both are exact to 10 %.
   * Attempts are counted when they end, so that the answer is as fast for millions of attempts.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(webhookEndpointId: string, args?: GetWebhookEndpointStatisticsQuery, options?: CallOptions): Call<WebhookEndpointStatistics> {
    return this.callJson<WebhookEndpointStatistics>('GET', path`/v1/webhook-endpoints/${webhookEndpointId}/stats`, { args, answer: 'WebhookEndpointStatistics' }, options)
  }
}

export class WebhooksMethods extends Group {
  readonly deliveries: WebhooksDeliveriesMethods
  readonly recoveries: WebhooksRecoveriesMethods
  readonly stats: WebhooksStatsMethods

  constructor(transport: Transport) {
    super(transport)
    this.deliveries = new WebhooksDeliveriesMethods(transport)
    this.recoveries = new WebhooksRecoveriesMethods(transport)
    this.stats = new WebhooksStatsMethods(transport)
  }

  /**
   * Register an endpoint. Its signing secret is in this answer only.
   *
   * The URL is https (in sandbox http too) at a public address, port 443, 8443 or above 1024. `event_types` are names of
   * events, or `["*"]` for all. Keep `signing_secret`: it can not be read again.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  create(args: CreateWebhookEndpointRequest, options?: CallOptions): Call<CreatedWebhookEndpoint> {
    return this.callJson<CreatedWebhookEndpoint>('POST', '/v1/webhook-endpoints', { args, body: 'flat', answer: 'CreatedWebhookEndpoint' }, options)
  }

  /**
   * Delete an endpoint. Its waiting deliveries are cancelled.
   *
   * Its delivery log stays readable.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  delete(webhookEndpointId: string, options?: CallOptions): Call<DeletedWebhookEndpoint> {
    return this.callJson<DeletedWebhookEndpoint>('DELETE', path`/v1/webhook-endpoints/${webhookEndpointId}`, { answer: 'flat' }, options)
  }

  /**
   * List the endpoints, newest first.
   *
   * A disabled endpoint says why, and stays disabled until you enable it. `window` adds the delivery statistics of each.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  list(args?: ListWebhookEndpointsQuery, options?: CallOptions): Pages<WebhookEndpoint, WebhookEndpointList> {
    return this.callPages<WebhookEndpoint, WebhookEndpointList>('/v1/webhook-endpoints', { args, answer: 'WebhookEndpoint' }, options)
  }

  /**
   * Read one endpoint.
   *
   * The answer does not contain the secret.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
   */
  retrieve(webhookEndpointId: string, options?: CallOptions): Call<WebhookEndpoint> {
    return this.callJson<WebhookEndpoint>('GET', path`/v1/webhook-endpoints/${webhookEndpointId}`, { answer: 'WebhookEndpoint' }, options)
  }

  /**
   * Make a new signing secret. It is in this answer only.
   *
   * The current secret signs beside the new one for `grace_seconds` (0 to 604800, 86400 when absent); older secrets no
   * longer sign. With 0 only the new secret signs, at once.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  rotateSecret(webhookEndpointId: string, args?: UpdateSecretRequest, options?: CallOptions): Call<CreatedWebhookEndpoint> {
    return this.callJson<CreatedWebhookEndpoint>('POST', path`/v1/webhook-endpoints/${webhookEndpointId}/rotate-secret`, { args, body: 'flat', answer: 'CreatedWebhookEndpoint' }, options)
  }

  /**
   * Send a signed ping to this endpoint. Its delivery log shows the result.
   *
   * The ping goes to this endpoint only, whatever it subscribed to.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  test(webhookEndpointId: string, options?: CallOptions): Call<SentPing> {
    return this.callJson<SentPing>('POST', path`/v1/webhook-endpoints/${webhookEndpointId}/test`, { answer: 'flat' }, options)
  }

  /**
   * Change an endpoint, or enable or disable it.
   *
   * Members that are absent keep their values; `metadata` is replaced as a whole. Disabling cancels waiting deliveries.
   * An endpoint that is enabled again gets later events only.
   *
   * Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
   */
  update(webhookEndpointId: string, args?: UpdateWebhookEndpointRequest & {
      /** Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one, 412. */
      ifMatch?: string | undefined
    }, options?: CallOptions): Call<WebhookEndpoint> {
    return this.callJson<WebhookEndpoint>('PATCH', path`/v1/webhook-endpoints/${webhookEndpointId}`, { args, headers: { ifMatch: 'If-Match' }, body: 'flat', answer: 'WebhookEndpoint' }, options)
  }
}

/** All groups of methods. */
export class Groups {
  /** The account, its API keys, requirements for captures, products, usage and audit log. */
  readonly account: AccountMethods
  /** Software that acts on another party’s behalf: registration, sessions and suspension. */
  readonly agents: AgentsMethods
  /**
   * Reports: claims by day, factors by the outcome of cases, decisions by reason, spend by mandate, approvals by age,
   * tokens that were never used.
   */
  readonly analytics: AnalyticsMethods
  /** Actions of agents that people have to approve, and their decisions. */
  readonly approvals: ApprovalsMethods
  /** Sign-in of people, and their sessions. Programs use API keys. */
  readonly auth: AuthMethods
  /** Decisions of adjusters about claims, with reasons and due dates. */
  readonly cases: CasesMethods
  /** Signed captures, one or thousands at once, their findings, and the combined result for each claim. */
  readonly claims: ClaimsMethods
  /** Clinician orders and their signatures, prescribers, exclusion lists, the clinical policy, and incident reports. */
  readonly clinical: ClinicalMethods
  /** Every recorded decision, its explanation, and proofs that no entry was changed or left out. */
  readonly decisions: DecisionsMethods
  /** Devices that may sign, and the authorities that certify them. */
  readonly devices: DevicesMethods
  /** Events in order, for receivers that take no webhooks, and the types of events. */
  readonly events: EventsMethods
  /** Tokens for actions that a person authorized an agent to run, their revocation, and the stop of all agents. */
  readonly intent: IntentMethods
  /** Permissions that people grant to agents: constraints, budgets, check-ins and delegation. */
  readonly mandates: MandatesMethods
  /** Uploads and downloads of photos and videos, and the anchors of C2PA. */
  readonly media: MediaMethods
  /** The users of an account, their roles, and invites. */
  readonly org: OrgMethods
  /** Work that waits for you, a search over all objects, every reason code, and the changes of this interface. */
  readonly overview: OverviewMethods
  /** Credentials with which people confirm actions: by face, finger or device. */
  readonly passkeys: PasskeysMethods
  /** Rules that say which actions may run under which conditions, in versions, and the secret of policy webhooks. */
  readonly policy: PolicyMethods
  /** Payments that an agent may make to one counterparty, once in each cycle. */
  readonly schedules: SchedulesMethods
  /** Scores that a detector of synthetic media gives an image. */
  readonly screenings: ScreeningsMethods
  /**
   * Language models, their inferences and what is inside them; canaries, the kill switch and session locks; diffs;
   * shares.
   */
  readonly trace: TraceMethods
  /** Endpoints that receive events, and the log of each delivery. */
  readonly webhooks: WebhooksMethods

  constructor(transport: Transport) {
    this.account = new AccountMethods(transport)
    this.agents = new AgentsMethods(transport)
    this.analytics = new AnalyticsMethods(transport)
    this.approvals = new ApprovalsMethods(transport)
    this.auth = new AuthMethods(transport)
    this.cases = new CasesMethods(transport)
    this.claims = new ClaimsMethods(transport)
    this.clinical = new ClinicalMethods(transport)
    this.decisions = new DecisionsMethods(transport)
    this.devices = new DevicesMethods(transport)
    this.events = new EventsMethods(transport)
    this.intent = new IntentMethods(transport)
    this.mandates = new MandatesMethods(transport)
    this.media = new MediaMethods(transport)
    this.org = new OrgMethods(transport)
    this.overview = new OverviewMethods(transport)
    this.passkeys = new PasskeysMethods(transport)
    this.policy = new PolicyMethods(transport)
    this.schedules = new SchedulesMethods(transport)
    this.screenings = new ScreeningsMethods(transport)
    this.trace = new TraceMethods(transport)
    this.webhooks = new WebhooksMethods(transport)
  }

}
