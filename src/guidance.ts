// What callers are told about an error: one entry per row of the failure table. The page /docs/errors and the examples
// of the OpenAPI document are made from it.

import type { FailureCode, FieldError } from './failure.ts'
import { CLINICAL_GUIDANCE } from './guidance-clinical.ts'
import { CONFLICT_GUIDANCE } from './guidance-conflicts.ts'
import { INTENT_GUIDANCE } from './guidance-intents.ts'

export interface Guidance {
  /** What happened. */
  happened: string
  /** What to do about it. */
  remedy: string
  /** Whether and when to send the same request again. */
  repeat: string
  /** The parts of an answer that differ between codes. */
  example: { detail: string; errors?: FieldError[]; members?: Record<string, unknown> }
}

const NO = 'No. The same request fails the same way.'
const AFTER_A_WHILE =
  'Yes, the same request, with growing pauses: as long as Retry-After says when it is sent, else one second, doubled ' +
  'each time. With an Idempotency-Key nothing happens twice.'

const GUIDANCE = {
  invalid_json: {
    happened: 'The body is not valid JSON, or JSON that parsers read differently.',
    remedy:
      'Write it with a JSON library. Duplicate members, text that is not UTF-8, whole numbers that a double can not ' +
      'hold, nesting deeper than 32, and anything after the value are refused too. `detail` names the byte.',
    repeat: NO,
    example: {
      detail: 'The JSON is refused at byte 26 in /claim/reference: the name appears twice in one object.',
      errors: [
        {
          pointer: '/claim/reference',
          code: 'duplicate_key',
          detail: 'the name appears twice in one object (byte 26)',
        },
      ],
    },
  },
  invalid_request: {
    happened: 'A value, a parameter or a header of the request is wrong, missing or unknown.',
    remedy:
      '`errors` names every finding at once: `pointer` is a JSON pointer into the body (RFC 6901), `?name` for a ' +
      'parameter of the query, or the name of a header. Fix all of them; unknown names are findings too, and the ' +
      'first lists the known ones.',
    repeat: NO,
    example: {
      detail: 'The request has 2 findings; see errors.',
      errors: [
        { pointer: '/bundle/sensor_hash', code: 'invalid_format', detail: 'must be a SHA-256 in hex' },
        {
          pointer: '/bundel',
          code: 'unknown_field',
          detail:
            'is not known here: known members are external_id, claim, media_type, bundle, assertion, ' +
            'certificate_chain, signature, media',
        },
      ],
    },
  },
  authentication_required: {
    happened: 'The request has no API key, or one in an unknown form, and no session cookie.',
    remedy:
      'Send `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`. A redirect or a proxy may have dropped it.',
    repeat: 'Not without a key or a session.',
    example: { detail: 'Send an API key: "Authorization: Bearer <API_KEY>" or "X-API-Key: <API_KEY>".' },
  },
  invalid_api_key: {
    happened: 'The service does not know this API key.',
    remedy:
      'Compare it with its source: keys begin with svc_live_ or svc_test_ and have 32 more characters. Each ' +
      'deployment has its own keys. A lost key can not be recovered: create another and revoke the lost one.',
    repeat: NO,
    example: {
      detail: 'The service does not know this API key. Compare it with its source: each deployment has its own keys.',
    },
  },
  api_key_revoked: {
    happened: 'The API key was revoked. A revocation is final.',
    remedy:
      'Use the key that replaced it. A rotated key counts as revoked when its grace period is over. Another key is made ' +
      'with POST /v1/account/keys, or by the operator of the service.',
    repeat: NO,
    example: { detail: 'This API key was revoked at 2026-11-02T10:11:12.000Z.' },
  },
  api_key_expired: {
    happened: 'The API key has expired.',
    remedy: 'Create another key. Rotate keys before they expire, so that the old and the new one overlap.',
    repeat: NO,
    example: { detail: 'This API key expired at 2026-11-02T10:11:12.000Z.' },
  },
  account_suspended: {
    happened:
      'The operator of the service has suspended the account, or its owner has closed it. All of its keys are refused.',
    remedy:
      'Ask the operator. Nothing is lost: accepted captures and due webhook deliveries wait, and continue when the ' +
      'suspension ends. The keys work again without a change.',
    repeat: 'Not until the operator ends the suspension.',
    example: { detail: 'This account was suspended at 2026-11-02T10:11:12.000Z. Ask the operator of the service.' },
  },
  ip_not_allowed: {
    happened: 'The API key is valid, and its `ip_allow` does not include the address of this request.',
    remedy:
      'Send it from an allowed address, or make a key with another `ip_allow`. `detail` names the address that the ' +
      'service sees: if it is that of a proxy in front of the service, its operator lists the proxy in TRUSTED_PROXIES.',
    repeat: 'Not from this address.',
    example: { detail: 'This API key is not accepted from the address 203.0.113.7.' },
  },
  insufficient_scope: {
    happened:
      'The API key is valid, but lacks the scope of this route, or a scope that it wants to give to another key.',
    remedy:
      'Use a key with the scope in `required_scope`, or, where `required_products` names some, one that is not narrowed to ' +
      'other products. Each route requires exactly one scope; the API reference shows ' +
      'which. `detail` names the scopes that the key has.',
    repeat: NO,
    example: {
      detail: 'This API key lacks the scope "admin"; it has attest, verify.',
      members: { required_scope: 'admin' },
    },
  },
  session_required: {
    happened: 'An API key was used for something that only a signed-in user may do, or the session is too old for it.',
    remedy:
      'Sign in, and send the request with the session cookie and its CSRF token. Acts whose effect lasts longer than the ' +
      'session need one that began less than 10 minutes ago.',
    repeat: NO,
    example: { detail: 'This takes a session of a signed-in user, and no API key.' },
  },
  session_expired: {
    happened: 'The session has ended: signed out, idle for an hour, older than twelve hours, or its user was removed.',
    remedy: 'Sign in again.',
    repeat: 'After signing in.',
    example: { detail: 'This session has ended: sign in again.' },
  },
  monthly_cap_exceeded: {
    happened: 'The plan’s metered operations of this month are used up. Only live operations count.',
    remedy: 'Ask the operator for a larger plan, or wait for the next month (UTC): `resets_at` says when it begins.',
    repeat: 'In the next month, or on a larger plan.',
    example: {
      detail: 'The plan developer includes 1,000 metered operations a month, and they are used up.',
      members: { resets_at: '2026-12-01T00:00:00.000Z' },
    },
  },
  csrf_token_invalid: {
    happened: 'A request with a session cookie changes something, and its CSRF token is missing or wrong.',
    remedy:
      'Send the value of the cookie svc_csrf, which GET /v1/auth/session returns too, in the header X-CSRF-Token. ' +
      'Requests of other origins are refused.',
    repeat: 'With the right token.',
    example: { detail: 'The header X-CSRF-Token is missing.' },
  },
  beta_access_required: {
    happened: 'This deployment lets only listed people sign in, and this address is not listed.',
    remedy: 'Ask the operator of the service for access.',
    repeat: NO,
    example: { detail: 'This deployment lets only listed addresses sign in.' },
  },
  sso_required: {
    happened: 'The organization of this address lets its users sign in by single sign-on only.',
    remedy: 'Open `start_url` in a browser. Owners sign in with mailed links, too.',
    repeat: NO,
    example: {
      detail: 'Users of acme.example sign in by single sign-on.',
      members: { start_url: 'https://claims.example.com/v1/auth/sso/start?domain=acme.example' },
    },
  },
  sso_login_refused: {
    happened: 'The identity provider answered, and its answer signs nobody in; `cause` says why.',
    remedy: 'The guide Single sign-on lists every cause with what to do. The administrator finds it in the audit log.',
    repeat: 'Not this code and state: begin again with GET /v1/auth/sso/start.',
    example: {
      detail: 'The identity provider gave an address outside of the domain acme.example.',
      members: { cause: 'domain_mismatch' },
    },
  },
  provider_unavailable: {
    happened: 'The identity provider did not answer, or not as OpenID Connect demands; `cause` says what happened.',
    remedy: 'Begin again with GET /v1/auth/sso/start. If it persists, ask the administrator of the identity provider.',
    repeat: 'Not this code and state: begin again. A configuration can be sent again.',
    example: { detail: 'The identity provider did not answer within 5 seconds.', members: { cause: 'timeout' } },
  },
  plan_required: {
    happened: 'The account’s plan does not include this.',
    remedy: 'Ask the operator of the service for the plan that `required_plan` names.',
    repeat: NO,
    example: { detail: 'This needs the plan enterprise.', members: { required_plan: 'enterprise' } },
  },
  role_limit: {
    happened: 'The user or the API key may do this, but not to this extent: a caller grants at most its own rights.',
    remedy:
      'Ask an owner of the account. `detail` says what the role may grant, or in what a new key would go beyond the key ' +
      'that makes it: its end, or its addresses. A user who is signed in invites to roles that can do more than an API key.',
    repeat: NO,
    example: { detail: 'A developer can’t create a live key with the scope "admin".' },
  },
  rate_limited: {
    happened: 'Too many requests at once, for this account, this key or this address.',
    remedy: 'Wait as long as Retry-After says. `RateLimit` and `RateLimit-Policy` show the limit on every answer.',
    repeat: AFTER_A_WHILE,
    example: {
      detail: 'On the plan developer an account sends at most 10 requests a second, and 20 at once. Try again in 1 s.',
      members: { limit: 'account' },
    },
  },
  key_read_only: {
    happened: 'The API key was made to read only, and the request would change something.',
    remedy: 'Use a key that may change things. A key is made with or without `read_only`, and stays so.',
    repeat: NO,
    example: { detail: 'This API key only reads, and this would change something: use another key.' },
  },
  insufficient_role: {
    happened: 'The user’s role does not allow this.',
    remedy: 'Ask an owner or an admin of the account to do it, or to change the role.',
    repeat: NO,
    example: { detail: 'This needs the role owner or admin.' },
  },
  environment_mismatch: {
    happened: 'A live id was used with a sandbox key, or the other way round. The two environments share nothing.',
    remedy: 'Use matching keys and ids: svc_test_ keys with ids that contain _test_, svc_live_ keys with _live_.',
    repeat: NO,
    example: {
      detail: 'The id is of the live environment, and this is a test key: use a key that begins with svc_live_.',
    },
  },
  account_key_required: {
    happened: 'A publishable sandbox key was used for something that belongs to one account.',
    remedy: 'Use a key of an account of your own: `npm start` prints one, and the operator creates others.',
    repeat: NO,
    example: {
      detail:
        'The publishable sandbox keys share one account and can not do this: use a key of an account of your own.',
    },
  },
  not_found: {
    happened: 'The address does not exist, or your account has no object with this id in this environment.',
    remedy:
      'Check the path, letter by letter and without a slash at its end, and the id. Objects of another account and ' +
      'erased objects are not found either.',
    repeat: NO,
    example: { detail: 'There is no claim clm_test_01m7x7ennfe7dsmvdzwjp06y9w.' },
  },
  method_not_allowed: {
    happened: 'The address exists, but does not answer this method.',
    remedy: 'The header Allow lists the methods of the address.',
    repeat: NO,
    example: { detail: 'This address answers GET, HEAD, POST, and not PUT.' },
  },
  request_timeout: {
    happened: 'The body arrived too slowly: less than 10 KiB in 10 seconds, or nothing at all.',
    remedy: 'Send it over a faster connection, or send a smaller body. Nothing of it was stored.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'The body came too slowly: fewer than 10240 bytes in 10 seconds. Nothing was changed.' },
  },
  ...CLINICAL_GUIDANCE,
  ...CONFLICT_GUIDANCE,
  ...INTENT_GUIDANCE,
  idempotency_in_progress: {
    happened: 'A request with the same Idempotency-Key is still in progress.',
    remedy: 'Wait until it ends. The repeat then returns what the first created.',
    repeat: 'Yes, the same request with the same key, after as many seconds as Retry-After says.',
    example: { detail: 'A request with this Idempotency-Key is being worked on: try again in a moment.' },
  },
  events_expired: {
    happened: 'Events after this position were deleted: they are kept for 30 days, and the reader has missed some.',
    remedy:
      'Read what you missed from the resources themselves, such as GET /v1/claims. Then go on with `resume_after`, after which ' +
      'nothing is missing; a consumer has to be deleted and made again.',
    repeat: NO,
    example: {
      detail: 'Events after position 120 were deleted after 30 days. The remaining events begin after 4310.',
      members: { resume_after: 4310 },
    },
  },
  precondition_failed: {
    happened: '`If-Match` does not name the current version: the object was changed since it was read.',
    remedy: 'Read it again, apply the change to the current version, and send the ETag of that version.',
    repeat: NO,
    example: { detail: 'The risk policy is at version 4: read it again before you replace it.' },
  },
  precondition_required: {
    happened:
      'The request replaces a document and has no `If-Match`: it could overwrite a change that its author has not ' +
      'read.',
    remedy: 'Read the document, apply the change to it, and send its ETag in the header If-Match.',
    repeat: NO,
    example: { detail: 'Send the ETag of the version that you have read in If-Match.' },
  },
  payload_too_large: {
    happened: 'The body, a line of it, or the number of its lines is beyond the limit of the route.',
    remedy:
      'Upload photos with POST /v1/media and send their media_id. Split a batch that has more lines than one may ' +
      'have. `detail` names the limit.',
    repeat: NO,
    example: { detail: 'The body must not be larger than 20971520 bytes.' },
  },
  unsupported_media_type: {
    happened: 'The route does not accept this Content-Type, or the body has a content coding.',
    remedy: 'Send one of the types in `detail`, in UTF-8 where it is text, and not compressed.',
    repeat: NO,
    example: { detail: 'Content-Type must be application/json.' },
  },
  range_not_satisfiable: {
    happened: 'The requested range lies outside of the media.',
    remedy: 'Content-Range says how many bytes there are. A complete download needs no further range.',
    repeat: NO,
    example: { detail: 'The media has 204811 bytes.' },
  },
  idempotency_key_reused: {
    happened: 'The Idempotency-Key was used within the last 24 hours for another request: another path or body.',
    remedy: 'Make a new key for each operation, and use it again only for repeats of exactly that request.',
    repeat: 'Not with this key.',
    example: {
      detail:
        'This Idempotency-Key belongs to another request to this address: another path or another body. Choose a ' +
        'new key.',
    },
  },
  backend_capability_missing: {
    happened: 'The request needs something that this model, or what runs it, can not do.',
    remedy:
      '`GET /v1/trace/models` shows the capabilities of each model and whether it takes conversations. Name another ' +
      'model, or leave out what it lacks, such as `canary_set` where the model has no probes.',
    repeat: NO,
    example: {
      detail: 'The model smollm2-135m-instruct can not take canary readings.',
      members: { model: 'smollm2-135m-instruct', capability: 'canary' },
    },
  },
  internal_error: {
    happened: 'An error of the service itself. It was logged.',
    remedy: 'Try again. If the error persists, tell us the `request_id`, which identifies the log line.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'Something went wrong on our side. If it persists, tell us the request_id.' },
  },
  service_unavailable: {
    happened: 'A part of the service can not be reached or is overloaded at this moment. Nothing was changed.',
    remedy: 'Try again. A delay does not harm captures: they contain their own time.',
    repeat: AFTER_A_WHILE,
    example: { detail: 'A part of the service can not be reached at the moment. Nothing was changed; try again.' },
  },
} as const satisfies Record<FailureCode, Guidance>

/** The guidance of a code, without the literal types of its entry. */
export function guidanceOf(code: FailureCode): Guidance {
  return GUIDANCE[code]
}
