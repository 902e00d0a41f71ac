# Written by `npm run clients` from the routes of the service: change those.
"""Methods that are awaited."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from . import literals, models, params
from ._given import NOT_GIVEN, NotGiven, given
from ._group import AsyncGroup, path
from ._pages import AsyncPages
from ._request import random_key
from ._streams import AsyncDownload, AsyncLines
from ._transport import AsyncTransport
from ._uploads import AsyncItems, AsyncSource, Progress

class AsyncAccountAuditMethods(AsyncGroup):
    def export(
        self,
        *,
        action: literals.AuditAction | Sequence[literals.AuditAction] | None = None,
        actor_id: str | None = None,
        subject_id: str | None = None,
        environment: literals.Environment | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        timeout: float | None = None,
    ) -> AsyncLines[models.AuditEntry]:
        """The audit log as NDJSON, oldest first.

        The export has one entry per line, takes the same filters, and ends at the time of the request. The export
        is recorded too.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.

        Args:
            actor_id: Id of the key or user that acted.
            subject_id: Id of the object that was changed or read.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._lines(
            "GET",
            "/v1/account/audit/export",
            models.AuditEntry,
            query=given(
                {
                    "action": action,
                    "actor_id": actor_id,
                    "subject_id": subject_id,
                    "environment": environment,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                }
            ),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        action: literals.AuditAction | Sequence[literals.AuditAction] | None = None,
        actor_id: str | None = None,
        subject_id: str | None = None,
        environment: literals.Environment | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.AuditEntry, models.AuditEntryList]:
        """List administrative acts, and reads of photos, videos and evidence packets, newest first.

        Who did what, when and from where. An entry is written in the transaction of the act, and the entry of a
        read before its first byte is sent. Reads of the same photo or video by the same key or user within a minute
        are one entry; each download of an export is one. Refused acts (`act.refused`) and failed sign-ins of users
        (`user.sign_in_refused`) are entries, ten of one key or user in ten minutes, and the others counted in one.
        A sandbox key reads the entries of the sandbox. Entries are kept for 30 days, a year or seven years, by
        plan. See [the account](https://api.example.test/docs/account/account).

        Scope `admin`, with a key of your own account. Sessions: owner, admin.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            actor_id: Id of the key or user that acted.
            subject_id: Id of the object that was changed or read.
        """
        return self._pages(
            "GET",
            "/v1/account/audit",
            models.AuditEntryList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "action": action,
                    "actor_id": actor_id,
                    "subject_id": subject_id,
                    "environment": environment,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        audit_entry_id: str,
        *,
        timeout: float | None = None,
    ) -> models.AuditEntry:
        """One entry of the audit log.

        The entry is the same as in the list.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.
        """
        return await self._json(
            "GET",
            path("/v1/account/audit/{}", audit_entry_id),
            models.AuditEntry,
            timeout=timeout,
        )


class AsyncAccountClosureMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.AccountClosure:
        """Whether the account is closed, and when it is erased.

        Takes the session of an owner.

        No API key: a session only. Sessions: owner.
        """
        return await self._json(
            "GET",
            "/v1/account/closure",
            models.AccountClosure,
            timeout=timeout,
        )


class AsyncAccountExportsMethods(AsyncGroup):
    async def create(
        self,
        *,
        include_media: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AccountExport:
        """Make an archive of everything that the account has.

        Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). Each
        table is one file with a JSON object per line, for both environments; secrets and their hashes are left out.
        `manifest.json` has the SHA-256 of each file. An account has one export at a time. See [the
        account](https://api.example.test/docs/account/account).

        No API key: a session only. Sessions: owner.

        Args:
            include_media: Photos and videos too. Default: `false`.
        """
        return await self._json(
            "POST",
            "/v1/account/export",
            models.AccountExport,
            body=given({"include_media": include_media}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def download(
        self,
        export_id: str,
        *,
        range: str | None = None,
        if_range: str | None = None,
        timeout: float | None = None,
    ) -> AsyncDownload:
        """Download the archive (ZIP), or one range of it.

        Takes a session that began less than 10 minutes ago, as requesting the export does. The answer is
        `not_ready` until the archive is made, and `conflict` after it has expired. Each download is in the audit
        log: a range that does not begin with the first byte continues one.

        No API key: a session only. Sessions: owner.

        Args:
            range: One range of bytes, such as `bytes=0-1048575`.
            if_range: The ETag of the archive. With another ETag the answer is the whole archive.
        """
        return await self._download(
            "GET",
            path("/v1/account/exports/{}/download", export_id),
            headers={"Range": range, "If-Range": if_range},
            accept="application/zip",
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.AccountExport, models.AccountExportList]:
        """Exports of the account, newest first.

        The list includes exports that failed or have expired.

        No API key: a session only. Sessions: owner.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/account/exports",
            models.AccountExportList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        export_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.AccountExport:
        """The status and progress of one export.

        `succeeded` means that the archive can be downloaded until `expires_at`, for 7 days. `wait` waits for the
        end of the export.

        No API key: a session only. Sessions: owner.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/account/exports/{}", export_id),
            models.AccountExport,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncAccountInvoicesMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Statement, models.StatementList]:
        """Monthly statements, newest first, from the first month of the account on.

        A statement has units per metered operation, computed from the usage. It has no amounts: prices are agreed
        with the operator of the service. The statement of the current month is `open`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/account/invoices",
            models.StatementList,
            query=given({"limit": limit, "cursor": cursor, "include": include}),
            timeout=timeout,
        )


class AsyncAccountKeysMethods(AsyncGroup):
    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[literals.GrantableScope],
        environment: literals.Environment | None = None,
        expires_at: str | None = None,
        ip_allow: Sequence[str] | None = None,
        products: Sequence[literals.Product] | None = None,
        read_only: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CreatedApiKey:
        """Create an API key. The raw key is in this answer only.

        Keep `key`: it can not be read again. A key gives at most its own scopes, products, end and `ip_allow`;
        where the body names no `products`, `expires_at` or `ip_allow`, the new key gets those of the calling key. A
        key that is narrowed by `products` calls the routes of these products and those of the account, within its
        scopes. A `read_only` key calls those that only read. An owner or an admin gives any scope, a developer any
        in the sandbox and attest, verify, intent and screen in live. `all` is for the sandbox only. An environment
        has at most 200 active keys.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            environment: Environment of the key: the same as the calling key’s. A session may choose; when absent,
                Service-Environment applies.
            ip_allow: Addresses and ranges from which the key is accepted: `203.0.113.7`, `2001:db8::/32`.
            products: Narrows the key to the routes of these products. When absent, the key gets the products of the
                calling key.
            read_only: The key only reads, within its scopes, and changes nothing except the positions of its event
                consumers. `false` when absent.
        """
        return await self._json(
            "POST",
            "/v1/account/keys",
            models.CreatedApiKey,
            body=given(
                {
                    "name": name,
                    "scopes": scopes,
                    "environment": environment,
                    "expires_at": expires_at,
                    "ip_allow": ip_allow,
                    "products": products,
                    "read_only": read_only,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.ApiKeyStatusFilter | Sequence[literals.ApiKeyStatusFilter] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ApiKey, models.ApiKeyList]:
        """List the API keys of an environment, newest first.

        Lists the keys of the calling key's environment, or of Service-Environment. `status=working` lists all that
        are accepted: active and rotating ones. A user with the role developer sees and changes only keys that they
        created.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/account/keys",
            models.ApiKeyList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        api_key_id: str,
        *,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Read one API key.

        The answer never contains the raw key. A user with the role developer sees and changes only keys that they
        created.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
        """
        return await self._json(
            "GET",
            path("/v1/account/keys/{}", api_key_id),
            models.ApiKey,
            timeout=timeout,
        )

    async def revoke(
        self,
        api_key_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RevokedApiKey:
        """Revoke an API key permanently, from its next request on.

        The next request with the key is `api_key_revoked`, in every process. Pending invites that it sent are
        revoked (`invites_revoked`). Keys that it created go on working, and `keys_created` names them. Revoking it
        again changes nothing. `warnings` says when no key with the scope `admin` is left. A user with the role
        developer sees and changes only keys that they created.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer. A rate limit of its own,
        for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/account/keys/{}/revoke", api_key_id),
            models.RevokedApiKey,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def rotate(
        self,
        api_key_id: str,
        *,
        grace_period_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RotatedApiKey:
        """Replace an API key. Both work until the grace period is over.

        The successor has the same name, scopes, products and `ip_allow`, and lives as long as the old key was made
        to live, counted from now; a key that rotates itself keeps its end. The old key works for
        `grace_period_seconds`, a day when absent, and counts as revoked after that. Rotating a key needs the same
        authority as creating one like it. A key that is not active is `invalid_state_transition`; of two rotations
        at once one succeeds.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            grace_period_seconds: Default: `86400`.
        """
        return await self._json(
            "POST",
            path("/v1/account/keys/{}/rotate", api_key_id),
            models.RotatedApiKey,
            body=given({"grace_period_seconds": grace_period_seconds}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        api_key_id: str,
        *,
        if_match: str | None = None,
        name: str | None = None,
        ip_allow: Sequence[str] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ApiKey:
        """Change the name of an API key, or the addresses from which it is accepted.

        Members that are absent keep their values. New addresses take effect with the next request of the key.
        Setting them needs the same authority as creating such a key. Scopes, products, end and `read_only` never
        change: create another key. A user with the role developer sees and changes only keys that they created.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            ip_allow: The list replaces the stored one. null: the key is accepted from every address.
        """
        return await self._json(
            "PATCH",
            path("/v1/account/keys/{}", api_key_id),
            models.ApiKey,
            headers={"If-Match": if_match},
            body=given({"name": name, "ip_allow": ip_allow}, "ip_allow"),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAccountPlanMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.AccountPlan:
        """The plan, what is used of it this month, and the other plans.

        `change` says who can change to a plan: the owner, or the operator of the service.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            "/v1/account/plan",
            models.AccountPlan,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        plan: literals.Plan,
        confirm: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AccountPlan:
        """Change to a smaller plan.

        A smaller plan takes effect with the next request. Without `confirm` the answer is a `conflict` whose
        `errors` say what the change brings: fewer operations and requests, histories that are deleted, and after
        the plan enterprise no users beside the owner. For a larger plan ask the operator of the service.

        No API key: a session only. Sessions: owner.

        Args:
            confirm: Confirms the change. When absent, the answer says what the change brings.
        """
        return await self._json(
            "PUT",
            "/v1/account/plan",
            models.AccountPlan,
            body=given({"plan": plan, "confirm": confirm}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAccountProductsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.AccountProducts:
        """The products that the account uses.

        Events of a product reach webhook endpoints only while the account uses the product.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            "/v1/account/products",
            models.AccountProducts,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        products: Sequence[literals.Product],
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AccountProducts:
        """Set the products that the account uses.

        Replaces the whole list. It takes effect with the next event: deliveries that are waiting are still sent. An
        API key must be a live one. `version` is that of the account: it counts changes of its name, plan and
        products.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
        """
        return await self._json(
            "PUT",
            "/v1/account/products",
            models.AccountProducts,
            headers={"If-Match": if_match},
            body=given({"products": products}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAccountReevaluationsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        cause: literals.ReevaluationCause | Sequence[literals.ReevaluationCause] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Reevaluation, models.ReevaluationList]:
        """List re-evaluations and their causes, newest first.

        Each cause has one re-evaluation: a revoked device, a new list of revoked attestation keys, another risk
        policy, a late screening. Re-evaluations are kept for a month; the results that they replaced stay.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/account/reevaluations",
            models.ReevaluationList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "cause": cause,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        reevaluation_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.Reevaluation:
        """Read one re-evaluation, with its progress.

        `wait` keeps the request open until the re-evaluation has ended, for that many seconds at most.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/account/reevaluations/{}", reevaluation_id),
            models.Reevaluation,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncAccountRiskPolicyMethods(AsyncGroup):
    async def dry_run(
        self,
        *,
        document: params.RiskPolicyDocumentParam | models.RiskPolicyDocument,
        created_gte: str | None = None,
        created_lt: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RiskPolicyDryRun:
        """Preview which past claims another risk policy would change; nothing is changed.

        Judges stored facts by the policy in the body, and lists each claim that would change with its standing
        before and after. Nothing is written, and no event is sent. A page examines 2,000 claims at most, and may
        have fewer changes than `limit` and more to come: follow `next_cursor` to the end and add up `looked` and
        `would_change`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            created_gte: Claims created at or after this time.
            created_lt: Claims created before this time.
            limit: Maximum number of changed claims in the answer. Default: `100`.
            cursor: `next_cursor` of the page before.
        """
        return await self._json(
            "POST",
            "/v1/account/risk-policy/dry-run",
            models.RiskPolicyDryRun,
            body=given(
                {
                    "document": document,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "limit": limit,
                    "cursor": cursor,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list_versions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.RiskPolicy, models.RiskPolicyList]:
        """List all versions of the risk policy, newest first, and who made each.

        A version never changes. `policy_version` of a result is one of these, or 0.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/account/risk-policy/versions",
            models.RiskPolicyList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.RiskPolicy:
        """Read the current risk policy, with its version as ETag.

        Each environment of an account has its own policy. `version` 0 is the defaults, which apply until a policy
        is set. To change it, change `document` and send it back, with the ETag as `If-Match`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/account/risk-policy",
            models.RiskPolicy,
            timeout=timeout,
        )

    async def retrieve_version(
        self,
        version: str,
        *,
        timeout: float | None = None,
    ) -> models.RiskPolicy:
        """Read one version of the risk policy.

        Version 0 is the defaults.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/account/risk-policy/versions/{}", version),
            models.RiskPolicy,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        if_match: str,
        document: params.RiskPolicyDocumentParam | models.RiskPolicyDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RiskPolicy:
        """Replace the risk policy, and re-evaluate the results that it judges differently.

        Makes a new version, which applies to every later result; the same document again makes none. Without
        `If-Match` the answer is 428, and with the ETag of another version 412. Results that the new policy judges
        differently are re-evaluated at bulk priority: `GET /v1/account/reevaluations` shows the progress. Try a dry
        run first.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"3"`, or `*` for any.
        """
        return await self._json(
            "PUT",
            "/v1/account/risk-policy",
            models.RiskPolicy,
            headers={"If-Match": if_match},
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAccountUsageMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        month: str | None = None,
        timeout: float | None = None,
    ) -> models.Usage:
        """What the account has used in a month, per operation and day.

        Counts successful operations of the live environment up to now. The sandbox is not metered. An operation
        that is given back (a line of a batch that can not be evaluated, or is cancelled before) is subtracted on
        the day on which it is given back.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst.

        Args:
            month: Month in UTC; the current one when absent.
        """
        return await self._json(
            "GET",
            "/v1/account/usage",
            models.Usage,
            query=given({"month": month}),
            timeout=timeout,
        )


class AsyncAccountMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.audit = AsyncAccountAuditMethods(transport)
        self.closure = AsyncAccountClosureMethods(transport)
        self.exports = AsyncAccountExportsMethods(transport)
        self.invoices = AsyncAccountInvoicesMethods(transport)
        self.keys = AsyncAccountKeysMethods(transport)
        self.plan = AsyncAccountPlanMethods(transport)
        self.products = AsyncAccountProductsMethods(transport)
        self.reevaluations = AsyncAccountReevaluationsMethods(transport)
        self.risk_policy = AsyncAccountRiskPolicyMethods(transport)
        self.usage = AsyncAccountUsageMethods(transport)

    async def close(
        self,
        *,
        confirm: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AccountClosure:
        """Close the account. It is erased after 30 days, and until then this can be undone.

        Takes the session of an owner, which began less than 10 minutes ago (`session_required` otherwise). From the
        next request on, API keys and other users get `account_suspended`; jobs and webhook deliveries wait. Owners
        can read, export everything and undo the closure. After 30 days all rows and media of the account are
        erased. See [the account](https://api.example.test/docs/account/account#closing-the-account).

        No API key: a session only. Sessions: owner.

        Args:
            confirm: The name or the id of the account.
        """
        return await self._json(
            "POST",
            "/v1/account/closure",
            models.AccountClosure,
            body=given({"confirm": confirm}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def reopen(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AccountClosure:
        """Undo the closure of the account.

        Possible within 30 days, with a session that began less than 10 minutes ago. Keys and sessions work again,
        and waiting jobs and deliveries continue.

        No API key: a session only. Sessions: owner.
        """
        return await self._json(
            "DELETE",
            "/v1/account/closure",
            models.AccountClosure,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Account:
        """The account, its limits and its notices.

        Takes any key that has the scope, of either environment, or a session of any role.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            "/v1/account",
            models.Account,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        name: str,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Account:
        """Rename the account.

        Takes a live key, or a session. People see the name; the id of the account stays.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            name: Name for people, in mails and pages.
        """
        return await self._json(
            "PATCH",
            "/v1/account",
            models.Account,
            headers={"If-Match": if_match},
            body=given({"name": name}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAgentsSessionsMethods(AsyncGroup):
    async def create(
        self,
        agent_id: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AgentSession:
        """Open a session of an agent.

        A session is one run of the agent. Send its id to authorize, verify and check as `agent_session_id`: it
        names the agent too. An agent that is suspended or retired opens no session.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/agents/{}/sessions", agent_id),
            models.AgentSession,
            body=given({"metadata": metadata}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def end(
        self,
        agent_id: str,
        agent_session_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AgentSession:
        """End a session of an agent permanently.

        A session that has ended stays as it is. A lock on it stays too.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/agents/{}/sessions/{}/end", agent_id, agent_session_id),
            models.AgentSession,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        agent_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.AgentSessionStatus | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.AgentSession, models.AgentSessionList]:
        """List the sessions of an agent, newest first.

        Sessions that ended are kept for 90 days after their end.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            path("/v1/agents/{}/sessions", agent_id),
            models.AgentSessionList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                }
            ),
            timeout=timeout,
        )

    def list_all(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.AgentSessionStatus | None = None,
        agent_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.AgentSession, models.AgentSessionList]:
        """List the sessions of all agents, newest first.

        A session must match all filters. Sessions that ended are kept for 90 days after their end.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/agents/sessions",
            models.AgentSessionList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "agent_id": agent_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        agent_id: str,
        agent_session_id: str,
        *,
        timeout: float | None = None,
    ) -> models.AgentSession:
        """Read one session of an agent.

        A session of another agent is not found.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/agents/{}/sessions/{}", agent_id, agent_session_id),
            models.AgentSession,
            timeout=timeout,
        )


class AsyncAgentsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.sessions = AsyncAgentsSessionsMethods(transport)

    async def create(
        self,
        *,
        name: str,
        owner: str,
        public_key: params.AgentPublicKeyParam | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """Register an agent.

        An agent is software that acts on another party’s behalf. Tokens, sessions and locks name the agent by
        `agent_id`. `public_key` identifies it to others: the service stores the key and signs nothing with it.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            owner: Who answers for the agent: an e-mail address, a team, an id.
            public_key: P-256 or Ed25519 key as JWK.
        """
        return await self._json(
            "POST",
            "/v1/agents",
            models.Agent,
            body=given(
                {
                    "name": name,
                    "owner": owner,
                    "public_key": public_key,
                    "metadata": metadata,
                }, "public_key"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.AgentStatus | Sequence[literals.AgentStatus] | None = None,
        owner: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Agent, models.AgentList]:
        """List agents, newest first.

        An agent must match all filters, and any of the given values of `status`. `owner` is compared exactly.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/agents",
            models.AgentList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "owner": owner,
                }
            ),
            timeout=timeout,
        )

    async def retire(
        self,
        agent_id: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """End an agent permanently, with its sessions, from the next decision on.

        Retiring is permanent. From the commit on, every verify of a token of the agent, under any mandate, answers
        `agent_suspended`, and its open sessions have ended. The agent gets no tokens, sessions or mandates, and can
        not be changed or unsuspended. Its records stay. It needs `escalate`. A retired agent stays as it is.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/agents/{}/retire", agent_id),
            models.Agent,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        agent_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Agent:
        """Read one agent, with the causes of its suspension.

        `suspensions` shows why an agent is suspended: each cause is lifted separately.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/agents/{}", agent_id),
            models.Agent,
            timeout=timeout,
        )

    async def suspend(
        self,
        agent_id: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """Suspend an agent, from the next decision on.

        From the commit on, every verify of a token of the agent answers `agent_suspended`, in every process. An
        agent that is suspended manually, or retired, stays as it is. Other requests do not count against the rate
        limit of this one.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
        emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/agents/{}/suspend", agent_id),
            models.Agent,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def unsuspend(
        self,
        agent_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """Resume an agent that was suspended manually.

        Lifts the manual suspension. While a session lock holds the agent, the answer is 409 `agent_held_by_lock`
        with `lock_id`, and nothing changes: clear the lock. An agent that is active or retired is 409
        `invalid_state_transition`.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/agents/{}/unsuspend", agent_id),
            models.Agent,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        agent_id: str,
        *,
        if_match: str | None = None,
        name: str | None = None,
        owner: str | None = None,
        public_key: params.AgentPublicKeyParam | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Agent:
        """Change the registered data of an agent.

        Members that are absent keep their values; `public_key: null` removes the key. It needs `escalate`. A
        retired agent is 409 `invalid_state_transition`.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            owner: Who answers for the agent: an e-mail address, a team, an id.
            public_key: P-256 or Ed25519 key as JWK.
            metadata: The object replaces the stored one.
        """
        return await self._json(
            "PATCH",
            path("/v1/agents/{}", agent_id),
            models.Agent,
            headers={"If-Match": if_match},
            body=given(
                {
                    "name": name,
                    "owner": owner,
                    "public_key": public_key,
                    "metadata": metadata,
                }, "public_key"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncAnalyticsApprovalsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.ApprovalReport:
        """Count approvals by their age, and how long people took.

        Counts the approvals that were requested in the range as pending, approved, denied, expired or cancelled in
        each class of age. The age is the time until they ended, or until now. See
        [reports](https://api.example.test/docs/authorize/reports).

        Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            from_: Start, inclusive; 30 days before `to` when absent, at most 366.
            to: End, exclusive; now when absent.
        """
        return await self._json(
            "GET",
            "/v1/analytics/approvals",
            models.ApprovalReport,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncAnalyticsClaimsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.ClaimAnalytics:
        """Count claims by day and risk status.

        Counts new claims by day and by their current risk status. A period of more than 500,000 claims is refused
        with `range_too_large`: ask for a shorter one. See
        [analytics](https://api.example.test/docs/reference/analytics).

        Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            from_: Start, inclusive; 30 days before `to` when absent, at most 92.
            to: End, exclusive; now when absent.
        """
        return await self._json(
            "GET",
            "/v1/analytics/claims",
            models.ClaimAnalytics,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncAnalyticsDecisionsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.DecisionAnalytics:
        """Count verifications by day and reason.

        Counts the entries `verify` and `execute` of the ledger by day and reason. A period of more than 500,000 of
        them is refused with `range_too_large`: ask for a shorter one. See
        [analytics](https://api.example.test/docs/reference/analytics).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            from_: Start, inclusive; 30 days before `to` when absent, at most 92.
            to: End, exclusive; now when absent.
        """
        return await self._json(
            "GET",
            "/v1/analytics/decisions",
            models.DecisionAnalytics,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncAnalyticsFactorsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.FactorAnalytics:
        """Count factors by the outcome of cases.

        Counts the cases that ended in the period by their outcome, and for each factor and advisory code how many
        of their claims have it: a factor of as many legitimate as fraudulent claims says nothing. A reopened case
        has not ended. A period of more than 10,000 cases is refused with `range_too_large`. See
        [analytics](https://api.example.test/docs/reference/analytics).

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            from_: Start, inclusive; 30 days before `to` when absent, at most 92.
            to: End, exclusive; now when absent.
        """
        return await self._json(
            "GET",
            "/v1/analytics/factors",
            models.FactorAnalytics,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncAnalyticsMandateSpendMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        mandate_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.MandateSpend, models.MandateSpendList]:
        """Report what was spent under mandates, by period of their budgets.

        Adds up the executions of the ledger. An execution counts at its own time, under the mandate of its token
        and not under the mandate's parents; an amount that its outcome gave back is `released`. A range of more
        than 25,000 executions is refused with `range_too_large`: ask for shorter ones. See
        [reports](https://api.example.test/docs/authorize/reports).

        Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            from_: Start, inclusive; 30 days before `to` when absent, at most 366.
            to: End, exclusive; now when absent.
        """
        return self._pages(
            "GET",
            "/v1/analytics/mandate-spend",
            models.MandateSpendList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "from": from_,
                    "to": to,
                    "mandate_id": mandate_id,
                }
            ),
            timeout=timeout,
        )


class AsyncAnalyticsUnexecutedMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.UnexecutedIntent, models.UnexecutedIntentList]:
        """List tokens that were issued and never executed, newest first.

        Lists tokens of the range that no verification has executed, each with its last verification. Choose a `to`
        so long ago that the tokens have expired. A page reads a bounded number of authorizations: it may have fewer
        than `limit`, or none, and still a `next_cursor`. See
        [reports](https://api.example.test/docs/authorize/reports).

        Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            from_: Start, inclusive; 30 days before `to` when absent, at most 366.
            to: End, exclusive; now when absent.
        """
        return self._pages(
            "GET",
            "/v1/analytics/unexecuted",
            models.UnexecutedIntentList,
            query=given({"limit": limit, "cursor": cursor, "from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncAnalyticsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.approvals = AsyncAnalyticsApprovalsMethods(transport)
        self.claims = AsyncAnalyticsClaimsMethods(transport)
        self.decisions = AsyncAnalyticsDecisionsMethods(transport)
        self.factors = AsyncAnalyticsFactorsMethods(transport)
        self.mandate_spend = AsyncAnalyticsMandateSpendMethods(transport)
        self.unexecuted = AsyncAnalyticsUnexecutedMethods(transport)


class AsyncApprovalsChallengesMethods(AsyncGroup):
    async def create(
        self,
        approval_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PasskeyChallenge:
        """Ask for a challenge for the passkey of a person who approves.

        The browser of the person who approves passes it to `navigator.credentials.get`. The challenge is the hash
        of the action and of this approval. It works once, within 120 seconds.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also
        developer.
        """
        return await self._json(
            "POST",
            path("/v1/approvals/{}/challenge", approval_id),
            models.PasskeyChallenge,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncApprovalsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.challenges = AsyncApprovalsChallengesMethods(transport)

    async def approve(
        self,
        approval_id: str,
        *,
        comment: str | None = None,
        passkey_assertion: params.PasskeyAssertionParam | None = None,
        approver: params.NamedApproverParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Approval:
        """Approve the action of an agent, once for each person.

        Each person counts once. When enough people have approved, the same token verifies valid. An API key names
        the person for whom it votes, has one vote for each approval, and never decides what it authorized; in live,
        keys decide nothing unless the policy has `approvals.require_human_session: false`. When that is turned on
        later, or the key is revoked, the vote of the key does not count any more, and its person decides again. The
        answer is 409 `approval_already_decided` where the approval has ended, and for a second decision of a person
        or of a key.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also
        developer.

        Args:
            passkey_assertion: Signs a challenge of POST /v1/approvals/{id}/challenge. Required where
                `require_passkey` is true.
            approver: Person for whom an API key decides. Required with a key, and not for sessions.
        """
        return await self._json(
            "POST",
            path("/v1/approvals/{}/approve", approval_id),
            models.Approval,
            body=given(
                {
                    "comment": comment,
                    "passkey_assertion": passkey_assertion,
                    "approver": approver,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def deny(
        self,
        approval_id: str,
        *,
        reason: str,
        approver: params.NamedApproverParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Approval:
        """Deny the action of an agent, which ends its approval.

        One denial ends the approval, however many have approved before. The token never verifies valid after it.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also
        developer.

        Args:
            reason: For people.
            approver: Person for whom an API key decides. Required with a key, and not for sessions.
        """
        return await self._json(
            "POST",
            path("/v1/approvals/{}/deny", approval_id),
            models.Approval,
            body=given({"reason": reason, "approver": approver}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.ApprovalStatus | Sequence[literals.ApprovalStatus] | None = None,
        awaiting: Literal["me"] | None = None,
        jti: str | None = None,
        agent_session_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ApprovalSummary, models.ApprovalSummaryList]:
        """List approvals, newest first.

        `status=pending` lists approvals that wait for people, and `awaiting=me` lists approvals that wait for the
        signed-in person: their role may decide, separation of duties does not exclude them, and they have no vote
        that counts. Whether an approval has expired follows from the time of the request, not from a job that might
        be late. Only GET /v1/approvals/{id} has the payload of an action, the descriptions of its rules and more
        than 20 rules.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            awaiting: `me`: pending approvals that the signed-in person may decide and has not decided.
        """
        return self._pages(
            "GET",
            "/v1/approvals",
            models.ApprovalSummaryList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "awaiting": awaiting,
                    "jti": jti,
                    "agent_session_id": agent_session_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        approval_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.Approval:
        """Read one approval with its whole action; with `wait`, when it has ended.

        With `wait`, the service answers when the approval has ended, or when the seconds are over: read `status`.
        Verify answers the same: `approval_pending`, `approval_denied` or `approval_expired`.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            wait: Seconds to wait while it is pending.
        """
        return await self._json(
            "GET",
            path("/v1/approvals/{}", approval_id),
            models.Approval,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncCasesCountsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        assignee: str | None = None,
        timeout: float | None = None,
    ) -> models.CaseCounts:
        """Count cases by status.

        Each count stops at 100,000, as totals of lists do.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            assignee: `me`: cases of the user of the session. `none`: cases without an assignee.
        """
        return await self._json(
            "GET",
            "/v1/cases/counts",
            models.CaseCounts,
            query=given({"assignee": assignee}),
            timeout=timeout,
        )


class AsyncCasesEntriesMethods(AsyncGroup):
    def list(
        self,
        case_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.CaseEntry, models.CaseEntryList]:
        """Read the history of a case, newest first.

        Each change is one entry of the history, which is append-only.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/cases/{}/entries", case_id),
            models.CaseEntryList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncCasesNotesMethods(AsyncGroup):
    async def create(
        self,
        case_id: str,
        *,
        note: str,
        actor: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Case:
        """Add a note to the history of a case.

        A closed case takes notes too. Erasing the claim deletes the notes, and no more are accepted.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            actor: The person who acts. Required with an API key. A session acts for its own user, and this is
                ignored.
        """
        return await self._json(
            "POST",
            path("/v1/cases/{}/notes", case_id),
            models.Case,
            body=given({"actor": actor, "note": note}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncCasesMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.counts = AsyncCasesCountsMethods(transport)
        self.entries = AsyncCasesEntriesMethods(transport)
        self.notes = AsyncCasesNotesMethods(transport)

    async def create(
        self,
        *,
        claim_id: str,
        actor: str | None = None,
        assignee: str | None = None,
        priority: literals.CasePriority | None = None,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Case:
        """Open a case for a claim that has no open one.

        A claim that becomes `failed` gets a case automatically; use this route for other claims. A claim has at
        most one open case: opening a second is 409 with `case_id`.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            actor: The person who acts. Required with an API key. A session acts for its own user, and this is
                ignored.
            assignee: The `user_id` of a member who may work on cases; with an API key also any label.
            priority: Default: `normal`.
        """
        return await self._json(
            "POST",
            "/v1/cases",
            models.Case,
            body=given(
                {
                    "claim_id": claim_id,
                    "actor": actor,
                    "assignee": assignee,
                    "priority": priority,
                    "note": note,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        order_by: literals.CaseOrder | None = None,
        assignee: str | None = None,
        status: literals.CaseStatus | Sequence[literals.CaseStatus] | None = None,
        priority: literals.CasePriority | Sequence[literals.CasePriority] | None = None,
        reason_code: literals.CaseReason | Sequence[literals.CaseReason] | None = None,
        claim_id: str | None = None,
        due_gte: str | None = None,
        due_lt: str | None = None,
        overdue: literals.Flag | None = None,
        claim_changed: literals.Flag | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Case, models.CaseList]:
        """List cases, newest first or by due date.

        A case must match all filters, and any of several values of one filter. `order_by=due` with `order=asc`
        begins with the case that is due first. `overdue=true` lists cases whose due date has passed. `due_lt` lists
        cases that are due before a time; for a paused case this is the date that it would have if the pause ended
        now. `claim_changed=true` lists closed cases whose claim has changed its standing since.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
            order_by: `created` when absent. With `due` the list has open cases only.
            assignee: `me`: cases of the user of the session. `none`: cases without an assignee.
        """
        return self._pages(
            "GET",
            "/v1/cases",
            models.CaseList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "order_by": order_by,
                    "assignee": assignee,
                    "status": status,
                    "priority": priority,
                    "reason_code": reason_code,
                    "claim_id": claim_id,
                    "due_gte": due_gte,
                    "due_lt": due_lt,
                    "overdue": overdue,
                    "claim_changed": claim_changed,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        case_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Case:
        """Read one case.

        `allowed` has the statuses that the case can change to. Its history is at `GET /v1/cases/{id}/entries`.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/cases/{}", case_id),
            models.Case,
            timeout=timeout,
        )

    async def transition(
        self,
        case_id: str,
        *,
        to: literals.CaseStatus,
        reason_code: literals.CaseReason | None | NotGiven = NOT_GIVEN,
        note: str | None = None,
        actor: str | None = None,
        assignee: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Case:
        """Change the status of a case.

        A transition that is not in the table, or whose reason does not hold, is 409 `invalid_state_transition` with
        the `allowed` statuses. Send the `version` that you read: if the case was changed meanwhile, the answer is
        409 too. A denial for `suspected_fraud` takes two people: the first request is answered 202 and changes no
        status, and the second, by another `actor`, denies the case.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            actor: The person who acts. Required with an API key. A session acts for its own user, and this is
                ignored.
            assignee: The `user_id` of a member who may work on cases; with an API key also any label.
        """
        return await self._json(
            "POST",
            path("/v1/cases/{}/transitions", case_id),
            models.Case,
            body=given(
                {
                    "to": to,
                    "reason_code": reason_code,
                    "note": note,
                    "actor": actor,
                    "assignee": assignee,
                    "version": version,
                }, "reason_code"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        case_id: str,
        *,
        actor: str | None = None,
        version: int | None = None,
        assignee: str | None | NotGiven = NOT_GIVEN,
        priority: literals.CasePriority | None = None,
        due_at: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Case:
        """Change the assignee, the priority or the due date of a case.

        Equal values change nothing. A closed case is 409.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            actor: The person who acts. Required with an API key. A session acts for its own user, and this is
                ignored.
        """
        return await self._json(
            "PATCH",
            path("/v1/cases/{}", case_id),
            models.Case,
            body=given(
                {
                    "actor": actor,
                    "version": version,
                    "assignee": assignee,
                    "priority": priority,
                    "due_at": due_at,
                }, "assignee"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClaimsAttestationsMethods(AsyncGroup):
    def list(
        self,
        claim_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.SubmittedAttestation, models.SubmittedAttestationList]:
        """List the attestations of a claim with their submissions, newest first.

        Each attestation has its submission, so that you can check the signature again.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/claims/{}/attestations", claim_id),
            models.SubmittedAttestationList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    def list_results(
        self,
        attestation_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ReplacedResult, models.ReplacedResultList]:
        """List earlier results of an attestation, which later results replaced, newest first.

        The list is empty while the first result is valid. The current result is in the attestation; the factors of
        earlier results are in their `result_jws`.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/attestations/{}/results", attestation_id),
            models.ReplacedResultList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        attestation_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.Attestation:
        """Read one attestation, with its result once it is evaluated.

        With `wait` the service answers when the evaluation has ended, or when the time is over.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/attestations/{}", attestation_id),
            models.Attestation,
            query=given({"wait": wait}),
            timeout=timeout,
        )

    async def retry(
        self,
        attestation_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Attestation:
        """Restart a failed evaluation, or submit a cancelled capture again.

        Takes an attestation whose `status` is `failed` (`failure.detail` says why) or `cancelled`. A cancelled
        capture counts as submitted now. Other statuses are 409, and so is a cancelled capture that was submitted
        again meanwhile.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/attestations/{}/retry", attestation_id),
            models.Attestation,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClaimsBatchesMethods(AsyncGroup):
    async def cancel(
        self,
        batch_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CancelledBatch:
        """Cancel the lines that have not started.

        Running evaluations continue to their end. `cancelled` counts the lines that this call cancelled. A capture
        that was cancelled before its evaluation counts as never submitted: its `external_id` and its session nonce
        are free, and it may be submitted or retried.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/claims/batches/{}/cancel", batch_id),
            models.CancelledBatch,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        items: AsyncItems[params.BatchLineParam],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.SubmittedBatch:
        """Submit up to 10,000 captures, one JSON value per line or one array; upload their media before.

        Each value is a body of POST /v1/claims/attest whose media are uploaded already. A line may have 64 KiB, the
        body 256 MiB, and an array 20 MiB. A bad line does not affect the others; an incomplete body stores nothing.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._batch(
            "POST",
            "/v1/claims/batches",
            items,
            models.SubmittedBatch,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.BatchSummary, models.BatchSummaryList]:
        """List batches, newest first.

        The list has summaries. Read one batch for its risks, its rate and its expected end.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/claims/batches",
            models.BatchSummaryList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                }
            ),
            timeout=timeout,
        )

    def list_rejected(
        self,
        batch_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.RejectedLine, models.RejectedLineList]:
        """List the refused lines of a batch, in the order of the input.

        The lines are the same as in the answer to the upload.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/claims/batches/{}/rejected", batch_id),
            models.RejectedLineList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    def results(
        self,
        batch_id: str,
        *,
        cursor: str | None = None,
        include: Literal["pending"] | None = None,
        timeout: float | None = None,
    ) -> AsyncLines[models.DownloadBatchResultsResponseLine]:
        """Download the results, one per accepted line in the order of the input; the last line has the cursor to
        continue.

        The download ends before the first line that has not ended; with `include=pending` it continues. Each line
        has a `cursor` to resume after it. The last line is `{"object": "cursor", "next_cursor": .., "is_complete":
        ...}`: without it the download is incomplete.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            cursor: `next_cursor` of the page before.
            include: `pending` includes lines that are still queued.
        """
        return self._lines(
            "GET",
            path("/v1/claims/batches/{}/results", batch_id),
            models.DownloadBatchResultsResponseLine,
            query=given({"cursor": cursor, "include": include}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        batch_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.Batch:
        """Read the progress of a batch, and its findings so far.

        The batch is done when `settled` equals `accepted`. With `wait` the service answers then, or when the time
        is over.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/claims/batches/{}", batch_id),
            models.Batch,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncClaimsCapturesMethods(AsyncGroup):
    async def create(
        self,
        *,
        count: int,
        device_id: str | None = None,
        claim_reference: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IssuedSessions:
        """Issue nonces for future captures: each nonce binds one capture to the ten minutes after its issue.

        A nonce in a bundle proves that the capture is younger than the nonce. It is valid for one capture, taken
        from 5 minutes before `issued_at` to 5 minutes after `expires_at`; the submission itself may come up to 30
        days later. Fetch a few while there is a network.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.

        Args:
            device_id: The only device that may use the nonces.
            claim_reference: The insurer’s claim number: only submissions of that claim may use the nonces.
        """
        return await self._json(
            "POST",
            "/v1/claims/attest/sessions",
            models.IssuedSessions,
            body=given(
                {
                    "count": count,
                    "device_id": device_id,
                    "claim_reference": claim_reference,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.CaptureSessionStatus | Sequence[literals.CaptureSessionStatus] | None = None,
        device_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.CaptureSession, models.CaptureSessionList]:
        """List capture sessions without their nonces, newest first.

        Filters by status, device or time of issue. A session is listed for 31 days after it expired; nonces are
        shown only when they are issued.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            device_id: Sessions that only this device may use.
        """
        return self._pages(
            "GET",
            "/v1/claims/attest/sessions",
            models.CaptureSessionList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "device_id": device_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        capture_session_id: str,
        *,
        timeout: float | None = None,
    ) -> models.CaptureStream:
        """Read which chunks of a streamed capture have arrived.

        A phone calls this after a lost connection or a restart: `next_index` is the next chunk to send, and
        `received` has the indices that have arrived, as runs. The nonce is not shown again.

        Scope `attest`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/claims/attest/sessions/{}", capture_session_id),
            models.CaptureStream,
            timeout=timeout,
        )

    async def upload_chunk(
        self,
        capture_session_id: str,
        index: int,
        body: AsyncSource,
        *,
        content_digest: str | None = None,
        content_type: Literal["video/mp4", "video/quicktime", "video/webm"] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Chunk:
        """Send one chunk of a video while it is recorded.

        The body is the raw bytes of one chunk, 64 MiB at most. Chunks may come in any order; chunk 0 begins the
        file. Sending the same bytes again keeps the chunk and its arrival time; other bytes are 409. Send
        `Content-Digest` to have a damaged transfer refused. After the session is submitted (`media:
        {"capture_session_id": ..}`), no more chunks are accepted. Unsubmitted chunks are deleted after 7 days.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.

        Args:
            content_digest: `sha-256=:<base64>:` (RFC 9530) of the chunk.
        """
        return await self._upload(
            "PUT",
            path("/v1/claims/attest/sessions/{}/chunks/{}", capture_session_id, index),
            body,
            models.Chunk,
            headers={"Content-Digest": content_digest},
            content_type=content_type,
            on_progress=on_progress,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClaimsDuplicatesMethods(AsyncGroup):
    def list(
        self,
        claim_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.DuplicateFindings, models.DuplicateFindingsList]:
        """List other claims that show the same pictures.

        Lists other claims of the account that show the same bytes, or a picture whose 64-bit perceptual hash
        differs in six bits or less and whose greys are the same block by block. The search runs after the
        evaluation: `pending` means that it has not run yet.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/claims/{}/duplicates", claim_id),
            models.DuplicateFindingsList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClaimsEvidenceMethods(AsyncGroup):
    async def download(
        self,
        claim_id: str,
        *,
        format: literals.EvidenceFileFormat | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncDownload:
        """The evidence packet as a PDF document, for people.

        The packet has the submissions, the findings, the certificates of the devices, and what people decided and
        when. It is signed as a whole and part by part, so that `npm run evidence -- verify FILE` can check it
        offline. The PDF is a document to read, with the same packet as an attachment. A packet has at most 100
        attestations, newest first; `next_cursor` leads to older ones. Keys without the scope `escalate` get no
        notes of adjusters. Each export is logged.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            format: Takes precedence over Accept.
            limit: Most attestations, newest first; 100 when absent.
            cursor: `next_cursor` of the page before.
        """
        return await self._download(
            "GET",
            path("/v1/claims/{}/evidence", claim_id),
            query=given({"format": format, "limit": limit, "cursor": cursor}),
            accept="application/pdf",
            timeout=timeout,
        )

    async def retrieve(
        self,
        claim_id: str,
        *,
        format: literals.EvidenceFileFormat | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> models.SignedEvidencePacket:
        """Export everything known about a claim in one signed packet, as JSON or as a PDF that contains it.

        The packet has the submissions, the findings, the certificates of the devices, and what people decided and
        when. It is signed as a whole and part by part, so that `npm run evidence -- verify FILE` can check it
        offline. The PDF is a document to read, with the same packet as an attachment. A packet has at most 100
        attestations, newest first; `next_cursor` leads to older ones. Keys without the scope `escalate` get no
        notes of adjusters. Each export is logged.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            format: Takes precedence over Accept.
            limit: Most attestations, newest first; 100 when absent.
            cursor: `next_cursor` of the page before.
        """
        return await self._json(
            "GET",
            path("/v1/claims/{}/evidence", claim_id),
            models.SignedEvidencePacket,
            query=given({"format": format, "limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClaimsTimelineMethods(AsyncGroup):
    def list(
        self,
        claim_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ClaimMoment, models.ClaimMomentList]:
        """Read what happened to a claim, newest first.

        The timeline has captures and their results, earlier results too, the steps of cases, and the events about
        the claim. Events are kept for a limited time, so old ones may be missing.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/claims/{}/timeline", claim_id),
            models.ClaimMomentList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClaimsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.attestations = AsyncClaimsAttestationsMethods(transport)
        self.batches = AsyncClaimsBatchesMethods(transport)
        self.captures = AsyncClaimsCapturesMethods(transport)
        self.duplicates = AsyncClaimsDuplicatesMethods(transport)
        self.evidence = AsyncClaimsEvidenceMethods(transport)
        self.timeline = AsyncClaimsTimelineMethods(transport)

    async def attest(
        self,
        *,
        media_type: literals.MediaType,
        media: params.MediaReferenceParam | params.InlineMediaParam | params.StreamReferenceParam,
        wait: int | None = None,
        external_id: str | None = None,
        claim: params.CaptureClaimParam | None = None,
        bundle: params.CaptureBundleParam | None = None,
        assertion: str | None = None,
        certificate_chain: Sequence[str] | None = None,
        signature: params.CaptureSignatureParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Attestation:
        """Submit one signed capture and wait for its evaluation.

        The signature covers the canonical form (RFC 8785) of `bundle`: see the
        [guide](https://api.example.test/docs/attest/integrate). A fault of the capture is not an error: a bad
        signature or a used nonce is a factor of a result with status 200. The same `external_id` with the same
        content is the same attestation, without a time limit.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.

        Args:
            wait: `wait=N`: seconds to wait for the evaluation, 0 to 30; 10 when absent (RFC 7240).
                Preference-Applied in the answer says what was applied.
            external_id: Name of this submission: sending the same content again returns the same attestation.
        """
        return await self._json(
            "POST",
            "/v1/claims/attest",
            models.Attestation,
            body=given(
                {
                    "external_id": external_id,
                    "claim": claim,
                    "media_type": media_type,
                    "bundle": bundle,
                    "assertion": assertion,
                    "certificate_chain": certificate_chain,
                    "signature": signature,
                    "media": media,
                }
            ),
            prefer_wait=wait,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def erase(
        self,
        claim_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Claim:
        """Erase the media and positions of a claim permanently; hashes and signed results stay.

        The erasure is immediate and permanent: media, thumbnails and positions are deleted; hashes, factors and
        `result_jws` stay. Later captures with the same reference are 409. A 503 says that not all bytes are deleted
        yet: send the request again.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/claims/{}", claim_id),
            models.Claim,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        order_by: literals.ClaimOrder | None = None,
        reference: str | None = None,
        external_id: str | None = None,
        batch_id: str | None = None,
        risk_status: literals.ClaimRiskStatus | Sequence[literals.ClaimRiskStatus] | None = None,
        provenance_status: literals.ProvenanceStatus | Sequence[literals.ProvenanceStatus] | None = None,
        risk_score_gte: int | None = None,
        risk_score_lt: int | None = None,
        line: str | Sequence[str] | None = None,
        has_case: literals.Flag | None = None,
        updated_gte: str | None = None,
        updated_lt: str | None = None,
        factor: literals.AnyFactorCode | None = None,
        device_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Claim, models.ClaimList]:
        """List claims, newest first, or by score or update.

        All captures with one `claim.reference` are one claim. The claim has the highest score, the worst provenance
        and all codes of its captures. A claim must match all filters. `device_id` finds claims with captures that
        name the device or are signed by its key. `order_by=updated` puts the claim that changed last first; a claim
        that changes while the pages are read may appear twice.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
            order_by: `created` when absent. With `score` the list has evaluated claims only.
            risk_score_gte: Claims with at least this score.
            risk_score_lt: Claims below this score.
            has_case: `true`: claims with an open case. `false`: claims without one.
            updated_gte: Updated at or after this time.
            updated_lt: Updated before this time.
        """
        return self._pages(
            "GET",
            "/v1/claims",
            models.ClaimList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "order_by": order_by,
                    "reference": reference,
                    "external_id": external_id,
                    "batch_id": batch_id,
                    "risk_status": risk_status,
                    "provenance_status": provenance_status,
                    "risk_score_gte": risk_score_gte,
                    "risk_score_lt": risk_score_lt,
                    "line": line,
                    "has_case": has_case,
                    "updated_gte": updated_gte,
                    "updated_lt": updated_lt,
                    "factor": factor,
                    "device_id": device_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        claim_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Claim:
        """Read one claim.

        Its captures are at `GET /v1/claims/{id}/attestations`.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/claims/{}", claim_id),
            models.Claim,
            timeout=timeout,
        )


class AsyncClinicalExclusionImportsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        list: literals.ExclusionListName | None = None,
        status: literals.WorkStatus | Sequence[literals.WorkStatus] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ExclusionImport, models.ExclusionImportList]:
        """List imports of exclusion lists, newest first.

        Imports of the account. Those of the operator are not among them.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/clinical/exclusion-imports",
            models.ExclusionImportList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "list": list,
                    "status": status,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        exclusion_import_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.ExclusionImport:
        """Read the status of an import, and why a file was refused.

        With `wait`, it answers when the import has ended.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/exclusion-imports/{}", exclusion_import_id),
            models.ExclusionImport,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncClinicalExclusionListsMethods(AsyncGroup):
    async def import_leie(
        self,
        body: AsyncSource,
        *,
        file_name: str | None = None,
        force: literals.Flag | None = None,
        kind: literals.ExclusionFileKind | None = None,
        content_type: Literal["text/csv", "application/zip", "application/octet-stream"] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ExclusionImport:
        """Upload a file of LEIE (CSV, or ZIP with one CSV; up to 200 MB).

        The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in
        force ends the import as failed, and the list stays. See the
        [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            file_name: Name that the publisher gave the file: it tells the date of the list.
            force: Accepts an older list, or one with fewer rows. Owners only. Default: `false`.
        """
        return await self._upload(
            "POST",
            "/v1/clinical/exclusion-lists/leie/import",
            body,
            models.ExclusionImport,
            query=given({"file_name": file_name, "force": force, "kind": kind}),
            content_type=content_type,
            on_progress=on_progress,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def import_sam(
        self,
        body: AsyncSource,
        *,
        file_name: str | None = None,
        force: literals.Flag | None = None,
        content_type: Literal["text/csv", "application/zip", "application/octet-stream"] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ExclusionImport:
        """Upload a file of SAM (CSV, or ZIP with one CSV; up to 200 MB).

        The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in
        force ends the import as failed, and the list stays. See the
        [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            file_name: Name that the publisher gave the file: it tells the date of the list.
            force: Accepts an older list, or one with fewer rows. Owners only. Default: `false`.
        """
        return await self._upload(
            "POST",
            "/v1/clinical/exclusion-lists/sam/import",
            body,
            models.ExclusionImport,
            query=given({"file_name": file_name, "force": force}),
            content_type=content_type,
            on_progress=on_progress,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve_leie(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ExclusionList:
        """Read which file of LEIE is in force.

        The file that prescribers are compared with: the account’s own, or else the operator’s. See the
        [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            "/v1/clinical/exclusion-lists/leie",
            models.ExclusionList,
            timeout=timeout,
        )

    async def retrieve_sam(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ExclusionList:
        """Read which file of SAM is in force.

        The file that prescribers are compared with: the account’s own, or else the operator’s. See the
        [guide](https://api.example.test/docs/authorize/clinical#exclusion-lists).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            "/v1/clinical/exclusion-lists/sam",
            models.ExclusionList,
            timeout=timeout,
        )


class AsyncClinicalExclusionReviewsMethods(AsyncGroup):
    async def decide(
        self,
        exclusion_review_id: str,
        *,
        decision: literals.ExclusionDecision,
        reason: literals.ExclusionReviewReason,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ExclusionReview:
        """Clear or confirm a review.

        The decision holds for the prescriber and the row, in later files too. The opposite decision replaces it. A
        match by NPI, or by name and birth date, excludes whatever was decided.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/exclusion-reviews/{}/decision", exclusion_review_id),
            models.ExclusionReview,
            body=given({"decision": decision, "reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.ExclusionReviewStatus | Sequence[literals.ExclusionReviewStatus] | None = None,
        list: literals.ExclusionListName | None = None,
        prescriber_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ExclusionReview, models.ExclusionReviewList]:
        """List rows of exclusion lists that may be a prescriber’s, newest first.

        Matches by the name, which a person has to clear or confirm.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            prescriber_id: `prs_test_` or `prs_live_` and 26 characters.
        """
        return self._pages(
            "GET",
            "/v1/clinical/exclusion-reviews",
            models.ExclusionReviewList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "list": list,
                    "prescriber_id": prescriber_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        exclusion_review_id: str,
        *,
        timeout: float | None = None,
    ) -> models.ExclusionReview:
        """Read one review.

        The row is found in the published list by the name of the prescriber.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/exclusion-reviews/{}", exclusion_review_id),
            models.ExclusionReview,
            timeout=timeout,
        )


class AsyncClinicalExclusionScreeningsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.WorkStatus | Sequence[literals.WorkStatus] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ExclusionScreening, models.ExclusionScreeningList]:
        """List comparisons of all prescribers with the exclusion lists, newest first.

        All prescribers are compared after each import, after changes of prescribers, and once a day. It informs: an
        order is always compared with the lists in force itself.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/clinical/exclusion-screenings",
            models.ExclusionScreeningList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                }
            ),
            timeout=timeout,
        )

    def list_changes(
        self,
        exclusion_screening_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ExclusionChange, models.ExclusionChangeList]:
        """List prescribers whose status a screening found changed.

        Statuses without regard to waivers, which hold in one state only.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/clinical/exclusion-screenings/{}/changes", exclusion_screening_id),
            models.ExclusionChangeList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClinicalFactChallengesMethods(AsyncGroup):
    async def create(
        self,
        prescriber_id: str,
        *,
        fact_ids: Sequence[str],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PasskeyChallenge:
        """Ask for a challenge for the passkey of the person who confirms facts.

        For the passkeys of the signed-in person, for two minutes, once, and for exactly these facts. Refused at
        once where the person may not confirm them.

        No API key: a session only. Sessions: owner, admin, approver, analyst, developer.

        Args:
            fact_ids: Facts of the prescriber whose status is entered: all of them are confirmed, or none.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/facts/challenge", prescriber_id),
            models.PasskeyChallenge,
            body=given({"fact_ids": fact_ids}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalFactsMethods(AsyncGroup):
    async def confirm(
        self,
        prescriber_id: str,
        *,
        fact_ids: Sequence[str],
        passkey_assertion: params.PasskeyAssertionParam,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ConfirmedPrescriberFacts:
        """Confirm facts about a prescriber as the second person, with a passkey.

        A prescriber of tier 3 confirms, or an owner while no other prescriber has tier 3; never the person who
        entered a fact, and never the prescriber. All facts are confirmed, or none.

        No API key: a session only. Sessions: owner, admin, approver, analyst, developer.

        Args:
            fact_ids: Facts of the prescriber whose status is entered: all of them are confirmed, or none.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/facts/confirm", prescriber_id),
            models.ConfirmedPrescriberFacts,
            body=given({"fact_ids": fact_ids, "passkey_assertion": passkey_assertion}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        prescriber_id: str,
        body: params.CreatePrescriberFactRequestParam,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PrescriberFact:
        """Enter what was checked about a prescriber: identity, licence or DEA registration.

        Counts for tiers 1 and 2 at once, and for tier 3 when a second person has confirmed it. `warnings` tells of
        what is unusual and may be right.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/facts", prescriber_id),
            models.PrescriberFact,
            body=body,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def end(
        self,
        prescriber_id: str,
        fact_id: str,
        *,
        reason: literals.GivenFactEndReason,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PrescriberFact:
        """End a fact about a prescriber, from the next decision on.

        One person suffices. A fact that has ended stays as it is.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate
        limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/facts/{}/end", prescriber_id, fact_id),
            models.PrescriberFact,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        prescriber_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.PrescriberFact, models.PrescriberFactList]:
        """List what was checked about a prescriber, newest first.

        Includes facts that have expired or were ended.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/clinical/prescribers/{}/facts", prescriber_id),
            models.PrescriberFactList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClinicalFormularyMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ClinicalFormulary:
        """Read which formulary is in force, with its version as ETag.

        `version` 0 is an empty formulary. `digest` is that of the object of all concepts and their schedules.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/clinical/formulary",
            models.ClinicalFormulary,
            timeout=timeout,
        )

    async def update(
        self,
        body: AsyncSource,
        *,
        if_match: str,
        content_type: Literal["text/csv"] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ClinicalFormulary:
        """Replace the formulary by a CSV file with the columns rxcui and schedule.

        A first line `rxcui,schedule`, then a line for each concept, at most 50,000: the schedule is `none`, `I`,
        `II`, `III`, `IV` or `V`. Everything is replaced, or nothing. Pointers of errors count the lines after the
        first, from 1.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"3"`, or `*` for any.
        """
        return await self._upload(
            "PUT",
            "/v1/clinical/formulary",
            body,
            models.ClinicalFormulary,
            headers={"If-Match": if_match},
            content_type=content_type,
            on_progress=on_progress,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalFormularyEntriesMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.FormularyEntry, models.FormularyEntryList]:
        """List the concepts of the formulary, in the order of their ids.

        NDJSON has the whole formulary.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/clinical/formulary/entries",
            models.FormularyEntryList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncClinicalIncidentReportsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.IncidentReport, models.IncidentReportList]:
        """List the daily incident reports of clinician orders, newest first.

        One for each day in UTC from the first prescriber on, also where nothing happened; kept for two years. As
        NDJSON, all of them. See the [guide](https://api.example.test/docs/authorize/clinical#orders).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/clinical/incident-reports",
            models.IncidentReportList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        day: str,
        *,
        timeout: float | None = None,
    ) -> models.IncidentReport:
        """Read the incident report of one day.

        It is written soon after midnight in UTC, and never changes.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/incident-reports/{}", day),
            models.IncidentReport,
            timeout=timeout,
        )


class AsyncClinicalOrderChallengesMethods(AsyncGroup):
    async def create(
        self,
        order_id: str,
        *,
        act: literals.SignatureAct,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.OrderChallenge:
        """Ask for a challenge for the passkey of a signer, with everything that the signer has to see.

        For two minutes, once, for this act and exactly this content. Show the signer the order, the prescriber and
        the statement; compare `order_hash` with the hash of what you show. A key gets a challenge for the passkeys
        of every user.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/orders/{}/challenge", order_id),
            models.OrderChallenge,
            body=given({"act": act}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalOrdersMethods(AsyncGroup):
    async def cancel(
        self,
        order_id: str,
        *,
        reason: literals.OrderCancelReason,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Cancel an order that has not been executed.

        Possible until the order is executed.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/orders/{}/cancel", order_id),
            models.Order,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def cosign(
        self,
        order_id: str,
        *,
        passkey_assertion: params.PasskeyAssertionParam,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Co-sign an order as the second clinician, with a passkey.

        Another prescriber, by user and NPI, of the tier that the policy asks for and on no exclusion list.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/orders/{}/cosign", order_id),
            models.Order,
            body=given({"passkey_assertion": passkey_assertion}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        *,
        prescriber_id: str,
        patient_ref: str,
        medication: params.OrderedMedicationRequestParam,
        quantity: params.OrderedQuantityRequestParam,
        refills: int,
        sig: str,
        encounter_ref: str | None | NotGiven = NOT_GIVEN,
        us_state: literals.UsState | None | NotGiven = NOT_GIVEN,
        action_payload: Mapping[str, Any] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Enter an order, which its prescriber signs.

        The schedule is the strictest of the request, the formulary and the substances of 21 CFR 1308 in the name of
        the medication. A FHIR resource names the prescriber by NPI in `requester.identifier`. See the
        [guide](https://api.example.test/docs/authorize/clinical#orders).

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            patient_ref: Your reference of the patient, such as `Patient/123`. Sealed at rest.
            encounter_ref: Default: `null`.
            sig: Directions for use.
            us_state: State where it is dispensed: an exclusion of the LEIE that is waived there does not count.
                Default: `null`.
            action_payload: Default: `null`.
        """
        return await self._json(
            "POST",
            "/v1/clinical/orders",
            models.Order,
            body=given(
                {
                    "prescriber_id": prescriber_id,
                    "patient_ref": patient_ref,
                    "encounter_ref": encounter_ref,
                    "medication": medication,
                    "quantity": quantity,
                    "refills": refills,
                    "sig": sig,
                    "us_state": us_state,
                    "action_payload": action_payload,
                }, "encounter_ref", "us_state", "action_payload"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def decline(
        self,
        order_id: str,
        *,
        reason: literals.DeclineReason,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Decline an order as the second clinician, which is final.

        Another prescriber who is signed in declines, or a caller with a key. It is possible until the order is
        executed.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/orders/{}/decline", order_id),
            models.Order,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.OrderStatus | Sequence[literals.OrderStatus] | None = None,
        prescriber_id: str | None = None,
        schedule: literals.DrugSchedule | Sequence[literals.DrugSchedule] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Order, models.OrderList]:
        """List clinician orders, newest first.

        An open order that was not executed within 72 hours is expired. NDJSON has everything that matches: an
        export for inspections. See the [guide](https://api.example.test/docs/authorize/clinical#orders).

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/clinical/orders",
            models.OrderList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "prescriber_id": prescriber_id,
                    "schedule": schedule,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        order_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Order:
        """Read one order, as JSON or as a MedicationRequest of FHIR R4.

        With `Accept: application/fhir+json` a MedicationRequest: the resource as it came, with its extensions and
        the digits of its decimals, and our status in an extension. See the
        [guide](https://api.example.test/docs/authorize/clinical#orders).

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/orders/{}", order_id),
            models.Order,
            timeout=timeout,
        )

    async def sign(
        self,
        order_id: str,
        *,
        passkey_assertion: params.PasskeyAssertionParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Sign an order as its prescriber.

        The signed-in prescriber, or a passkey of the prescriber that a key passes on. Without a passkey only where
        the policy asks for none, and the prescriber is signed in. What verify would refuse is not signed.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            passkey_assertion: Required where `needs.passkey` of the order says so, and for API keys.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/orders/{}/sign", order_id),
            models.Order,
            body=given({"passkey_assertion": passkey_assertion}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        order_id: str,
        *,
        if_match: str,
        patient_ref: str | None = None,
        encounter_ref: str | None | NotGiven = NOT_GIVEN,
        medication: params.OrderedMedicationRequestParam | None = None,
        quantity: params.OrderedQuantityRequestParam | None = None,
        refills: int | None = None,
        sig: str | None = None,
        us_state: literals.UsState | None | NotGiven = NOT_GIVEN,
        action_payload: Mapping[str, Any] | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Order:
        """Edit an order, which voids its signatures.

        Another content has another hash, and both signatures are void. An order that was made from a FHIR resource
        is edited by sending the whole resource.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            if_match: Required. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            patient_ref: Your reference of the patient, such as `Patient/123`. Sealed at rest.
            sig: Directions for use.
        """
        return await self._json(
            "PATCH",
            path("/v1/clinical/orders/{}", order_id),
            models.Order,
            headers={"If-Match": if_match},
            body=given(
                {
                    "patient_ref": patient_ref,
                    "encounter_ref": encounter_ref,
                    "medication": medication,
                    "quantity": quantity,
                    "refills": refills,
                    "sig": sig,
                    "us_state": us_state,
                    "action_payload": action_payload,
                }, "encounter_ref", "us_state", "action_payload"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalPolicyMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ClinicalPolicy:
        """Read the clinical policy, with its version as ETag.

        Per account and environment. `version` 0 is the defaults. See the
        [guide](https://api.example.test/docs/authorize/clinical).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/clinical/policy",
            models.ClinicalPolicy,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        if_match: str,
        document: params.ClinicalPolicyDocumentParam | models.ClinicalPolicyDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ClinicalPolicy:
        """Replace the clinical policy by a new version.

        Makes a new version, which applies to every later decision; the same document again makes none. Refills of
        schedule II are 0, and of schedules III and IV at most 5 within 181 days, as 21 CFR 1306 demands.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"3"`, or `*` for any.
        """
        return await self._json(
            "PUT",
            "/v1/clinical/policy",
            models.ClinicalPolicy,
            headers={"If-Match": if_match},
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalPolicyVersionsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ClinicalPolicy, models.ClinicalPolicyList]:
        """List all versions of the clinical policy, newest first, and who made each.

        A version never changes.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/clinical/policy/versions",
            models.ClinicalPolicyList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        version: str,
        *,
        timeout: float | None = None,
    ) -> models.ClinicalPolicy:
        """Read one version of the clinical policy.

        Version 0 is the defaults.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/policy/versions/{}", version),
            models.ClinicalPolicy,
            timeout=timeout,
        )


class AsyncClinicalPrescribersMethods(AsyncGroup):
    async def create(
        self,
        *,
        user_id: str,
        npi: str,
        first: str,
        last: str,
        dob: str | None | NotGiven = NOT_GIVEN,
        state_licenses: Sequence[params.StateLicenseParam] | None = None,
        dea: params.DeaRegistrationParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Prescriber:
        """Enter a prescriber, for one user and one NPI.

        Names and birth date are sealed at rest. A check digit can’t tell which digit is wrong: the error says what
        the last one would be. Licences and the registration are entered as facts, which somebody else confirms. See
        the [guide](https://api.example.test/docs/authorize/clinical).

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            user_id: Member of the account whose passkeys sign. A user is one prescriber at most.
            npi: National Provider Identifier. When its check digit is wrong, the error says what the last digit
                would be.
            dob: Birth date. Without one, entries of the LEIE that have the name are reviewed and never matched.
                Default: `null`.
            state_licenses: Facts of the kind licence, entered with the prescriber. Default: `[]`.
            dea: A fact of the kind dea.
        """
        return await self._json(
            "POST",
            "/v1/clinical/prescribers",
            models.Prescriber,
            body=given(
                {
                    "user_id": user_id,
                    "npi": npi,
                    "first": first,
                    "last": last,
                    "dob": dob,
                    "state_licenses": state_licenses,
                    "dea": dea,
                }, "dob"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        user_id: str | None = None,
        npi: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Prescriber, models.PrescriberList]:
        """List prescribers, newest first.

        The tier is that of this moment. Filters take one user or one NPI. See the
        [guide](https://api.example.test/docs/authorize/clinical).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            npi: National Provider Identifier. When its check digit is wrong, the error says what the last digit
                would be.
        """
        return self._pages(
            "GET",
            "/v1/clinical/prescribers",
            models.PrescriberList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "user_id": user_id,
                    "npi": npi,
                }
            ),
            timeout=timeout,
        )

    async def reinstate(
        self,
        prescriber_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Prescriber:
        """Lift the suspension of a prescriber, whose facts have to be confirmed again.

        The facts that were confirmed count as entered by you: for tier 3, somebody else confirms them again with a
        passkey.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/reinstate", prescriber_id),
            models.Prescriber,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        prescriber_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Prescriber:
        """Read one prescriber, with the tier at this moment.

        No tier is stored: an expiry or a suspension counts at once. See the
        [guide](https://api.example.test/docs/authorize/clinical).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/clinical/prescribers/{}", prescriber_id),
            models.Prescriber,
            timeout=timeout,
        )

    async def suspend(
        self,
        prescriber_id: str,
        *,
        reason: literals.SuspensionReason,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Prescriber:
        """Suspend a prescriber, from the next decision on.

        One person suffices. The tier is 0, and orders are refused, from the next decision on.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate
        limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/clinical/prescribers/{}/suspend", prescriber_id),
            models.Prescriber,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        prescriber_id: str,
        *,
        if_match: str,
        npi: str | None = None,
        first: str | None = None,
        last: str | None = None,
        dob: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Prescriber:
        """Correct the NPI, name or birth date of a prescriber, which ends the facts about the identity.

        The identity was checked for another name, birth date or NPI, so the facts of the kind identity end, and the
        tier is 0 until one is entered and confirmed again.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"3"`, or `*` for any.
            npi: National Provider Identifier. When its check digit is wrong, the error says what the last digit
                would be.
            dob: Birth date. Without one, entries of the LEIE that have the name are reviewed and never matched.
        """
        return await self._json(
            "PATCH",
            path("/v1/clinical/prescribers/{}", prescriber_id),
            models.Prescriber,
            headers={"If-Match": if_match},
            body=given({"npi": npi, "first": first, "last": last, "dob": dob}, "dob"),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncClinicalMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.exclusion_imports = AsyncClinicalExclusionImportsMethods(transport)
        self.exclusion_lists = AsyncClinicalExclusionListsMethods(transport)
        self.exclusion_reviews = AsyncClinicalExclusionReviewsMethods(transport)
        self.exclusion_screenings = AsyncClinicalExclusionScreeningsMethods(transport)
        self.fact_challenges = AsyncClinicalFactChallengesMethods(transport)
        self.facts = AsyncClinicalFactsMethods(transport)
        self.formulary = AsyncClinicalFormularyMethods(transport)
        self.formulary_entries = AsyncClinicalFormularyEntriesMethods(transport)
        self.incident_reports = AsyncClinicalIncidentReportsMethods(transport)
        self.order_challenges = AsyncClinicalOrderChallengesMethods(transport)
        self.orders = AsyncClinicalOrdersMethods(transport)
        self.policy = AsyncClinicalPolicyMethods(transport)
        self.policy_versions = AsyncClinicalPolicyVersionsMethods(transport)
        self.prescribers = AsyncClinicalPrescribersMethods(transport)


class AsyncDecisionsCheckpointsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.LedgerCheckpoint, models.LedgerCheckpointList]:
        """List signed states of the ledger, the largest first.

        A checkpoint is signed at most once a minute, when the log has grown. Keep the newest checkpoint elsewhere:
        with it, every change of an earlier entry is detected. See [the
        ledger](https://api.example.test/docs/authorize/ledger).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/decisions/checkpoints",
            models.LedgerCheckpointList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncDecisionsConsistencyMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        from_: int | None = None,
        to: int | None = None,
        timeout: float | None = None,
    ) -> models.LedgerConsistencyProof:
        """Prove that the ledger has only grown since an earlier size.

        Proves from the roots of two checkpoints that the older checkpoint’s leaves are the first leaves of the
        newer one.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            from_: The older size; 1 when absent.
            to: The newer size; the size of the newest checkpoint when absent.
        """
        return await self._json(
            "GET",
            "/v1/decisions/consistency",
            models.LedgerConsistencyProof,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncDecisionsProofMethods(AsyncGroup):
    async def retrieve(
        self,
        decision_id: str,
        *,
        size: int | None = None,
        timeout: float | None = None,
    ) -> models.LedgerInclusionProof:
        """Prove that a decision is in the ledger.

        Returns the hashes that lead from the entry to the root that a checkpoint signs. The answer is 409
        `not_ready` while no checkpoint covers the entry: ask again in a minute. See [the
        ledger](https://api.example.test/docs/authorize/ledger).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            size: Size of the tree; the size of the newest checkpoint when absent.
        """
        return await self._json(
            "GET",
            path("/v1/decisions/{}/proof", decision_id),
            models.LedgerInclusionProof,
            query=given({"size": size}),
            timeout=timeout,
        )


class AsyncDecisionsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.checkpoints = AsyncDecisionsCheckpointsMethods(transport)
        self.consistency = AsyncDecisionsConsistencyMethods(transport)
        self.proof = AsyncDecisionsProofMethods(transport)

    async def explain(
        self,
        decision_id: str,
        *,
        timeout: float | None = None,
    ) -> models.DecisionExplanation:
        """Explain a decision by its facts, and whether they lead to the same answer again.

        Opens the recorded facts, and decides again from them alone. Facts are shown only when their hash is the one
        in the entry.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/decisions/{}/explain", decision_id),
            models.DecisionExplanation,
            timeout=timeout,
        )

    def export(
        self,
        *,
        after: int | None = None,
        timeout: float | None = None,
    ) -> AsyncLines[models.LedgerLine]:
        """Export the ledger as NDJSON, to be checked without the service.

        The export ends at the newest checkpoint. It has the entries by position, the leaf in place of a deleted
        entry, and the checkpoints in their places. With `after` it continues where an earlier export ended. The
        export is recorded in the audit log. `npm run ledger -- verify` checks it without the service. See [the
        ledger](https://api.example.test/docs/authorize/ledger).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            after: The last position that the caller has.
        """
        return self._lines(
            "GET",
            "/v1/decisions/export",
            models.LedgerLine,
            query=given({"after": after}),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        kind: literals.DecisionKind | Sequence[literals.DecisionKind] | None = None,
        reason: str | Sequence[str] | None = None,
        subject_id: str | None = None,
        jti: str | None = None,
        agent_id: str | None = None,
        agent_session_id: str | None = None,
        device_id: str | None = None,
        mandate_id: str | None = None,
        schedule_id: str | None = None,
        trace_id: str | None = None,
        matched_rule_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Decision, models.DecisionList]:
        """List decisions, newest first.

        Filters by kind, reason, time, and what a decision is about: its subject, token, agent, agent session,
        device, mandate, schedule or trace, and the rule that gave the answer. A page ends after half a megabyte,
        also before its `limit`: continue while `has_more`. Entries are kept for 30 days, a year or seven years, by
        plan, and in the sandbox for 7 days; clinical ones for two years at least. See [the
        ledger](https://api.example.test/docs/authorize/ledger).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            subject_id: Id of the subject of the decision.
            jti: Id of an intent token.
            matched_rule_id: The rule of the policy that gave the answer.
        """
        return self._pages(
            "GET",
            "/v1/decisions",
            models.DecisionList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "kind": kind,
                    "reason": reason,
                    "subject_id": subject_id,
                    "jti": jti,
                    "agent_id": agent_id,
                    "agent_session_id": agent_session_id,
                    "device_id": device_id,
                    "mandate_id": mandate_id,
                    "schedule_id": schedule_id,
                    "trace_id": trace_id,
                    "matched_rule_id": matched_rule_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        decision_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Decision:
        """Read one decision.

        A key with `verify` reads the decisions that it made itself; a key that also has `admin` reads all.
        `position` is the place of its leaf in the log, which it has a second after the decision.

        Scope `verify`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            path("/v1/decisions/{}", decision_id),
            models.Decision,
            timeout=timeout,
        )

    async def verify_chain(
        self,
        *,
        from_: int | None = None,
        limit: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.LedgerCheck:
        """Check a part of the ledger: entries, leaves, stored nodes and checkpoints.

        The service checks its own rows, 10,000 leaves at a time, and fewer where entries are long: call again with
        `next` until it is null. It finds rows that were changed, removed or added in the database. To check without
        trusting the service, check an export.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            from_: The first position: `next` of the previous part. Default: `0`.
            limit: Number of leaves in this part. Default: `10000`.
        """
        return await self._json(
            "POST",
            "/v1/decisions/verify-chain",
            models.LedgerCheck,
            body=given({"from": from_, "limit": limit}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncDevicesAttestationsMethods(AsyncGroup):
    async def upload(
        self,
        items: AsyncItems[params.DeviceEvidenceParam],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeviceRefresh:
        """Replace the hardware evidence of up to 10,000 devices, as NDJSON.

        One device per line; bad lines are reported and do not affect the others, and an incomplete body changes
        nothing. A publishable key may send 1,000 lines. Repeat with the same Idempotency-Key: each challenge is
        valid once.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._batch(
            "POST",
            "/v1/admin/devices/attestations",
            items,
            models.DeviceRefresh,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncDevicesBatchesMethods(AsyncGroup):
    async def create(
        self,
        items: AsyncItems[params.EnrollDeviceRequestParam],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeviceBatch:
        """Enroll up to 10,000 devices, as NDJSON.

        Each line is a body of `POST /v1/admin/devices`. Bad lines are reported and do not affect the others. A
        publishable key may send 1,000 lines. An interrupted upload stores nothing.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._batch(
            "POST",
            "/v1/admin/devices/batches",
            items,
            models.DeviceBatch,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncDevicesChallengesMethods(AsyncGroup):
    async def create(
        self,
        *,
        count: int,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IssuedChallenges:
        """Issue challenges for hardware evidence: each is valid once, for a day.

        Hardware evidence must contain one: 32 bytes in base64url, each valid once and for a day. See the guide to
        hardware evidence, docs/attest/hardware.md.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            "/v1/admin/devices/challenges",
            models.IssuedChallenges,
            body=given({"count": count}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncDevicesCountsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.DeviceCounts:
        """Count devices by status and hardware tier.

        Counts the devices of the account and environment. `expired` devices count as not enrolled; renew
        certificates before they expire.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            "/v1/admin/devices/counts",
            models.DeviceCounts,
            timeout=timeout,
        )


class AsyncDevicesHistoryMethods(AsyncGroup):
    def list(
        self,
        device_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.DeviceEntry, models.DeviceEntryList]:
        """Read the history of one device, newest first.

        An entry says that the device was enrolled, renewed by a newer certificate, attested by newer evidence or
        revoked, by which key, and by whom if the caller said so. A device expires automatically at `expires_at` of
        its last enrolment or renewal.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/admin/devices/{}/history", device_id),
            models.DeviceEntryList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncDevicesRootsMethods(AsyncGroup):
    async def create(
        self,
        *,
        name: str,
        certificate: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RootCa:
        """Register a CA certificate (PEM, or base64 of DER) that device certificates may lead to.

        The certificate chain of a device must lead to a root CA of the account; otherwise its captures raise
        `cert_unknown_ca`.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.

        Args:
            certificate: Certificate as PEM, or base64 of DER.
        """
        return await self._json(
            "POST",
            "/v1/admin/root-cas",
            models.RootCa,
            body=given({"name": name, "certificate": certificate}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def delete(
        self,
        root_ca_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeletedRootCa:
        """Stop trusting a root CA. Devices stay; new captures that lead to it raise cert_unknown_ca.

        Earlier results stay as they are.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/admin/root-cas/{}", root_ca_id),
            models.DeletedRootCa,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.RootCa, models.RootCaList]:
        """List root CAs, newest first.

        Each root CA has its certificate in PEM.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/admin/root-cas",
            models.RootCaList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        root_ca_id: str,
        *,
        timeout: float | None = None,
    ) -> models.RootCa:
        """Read one root CA.

        The answer has the certificate in PEM.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/admin/root-cas/{}", root_ca_id),
            models.RootCa,
            timeout=timeout,
        )


class AsyncDevicesMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.attestations = AsyncDevicesAttestationsMethods(transport)
        self.batches = AsyncDevicesBatchesMethods(transport)
        self.challenges = AsyncDevicesChallengesMethods(transport)
        self.counts = AsyncDevicesCountsMethods(transport)
        self.history = AsyncDevicesHistoryMethods(transport)
        self.roots = AsyncDevicesRootsMethods(transport)

    async def attest(
        self,
        device_id: str,
        body: params.AttestDeviceRequestParam,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Device:
        """Replace the hardware evidence of a device by newer evidence.

        Newer evidence replaces the stored evidence, whether the tier rises or falls. Evidence that is not about
        this device is refused and changes nothing; the errors say why.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/admin/devices/{}/attestation", device_id),
            models.Device,
            body=body,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        *,
        certificate_chain: Sequence[str],
        name: str | None = None,
        attestation: params.HardwareEvidenceParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Device:
        """Enroll one device by its certificate chain.

        `certificate_chain` is base64 of DER, leaf first, without the root. Sending the same key again returns the
        same device. `attestation` is evidence of the key’s hardware: when it does not verify, the device has the
        tier `none` and says why.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.

        Args:
            attestation: Evidence of the key’s hardware.
        """
        return await self._json(
            "POST",
            "/v1/admin/devices",
            models.Device,
            body=given(
                {
                    "name": name,
                    "certificate_chain": certificate_chain,
                    "attestation": attestation,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        order_by: literals.DeviceOrder | None = None,
        status: literals.DeviceStatus | Sequence[literals.DeviceStatus] | None = None,
        hardware_tier: literals.HardwareTier | None = None,
        expires_gte: str | None = None,
        expires_lt: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Device, models.DeviceList]:
        """List devices, newest first or by their expiry.

        A device must match all filters, and any of several statuses. `expired` means that the certificate has
        expired and the device counts as not enrolled. `status=enrolled` with `expires_lt`, `order_by=expires` and
        `order=asc` lists the devices to renew, the most urgent first.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
            order_by: `created` when absent. With `expires` and `order=asc` the list begins with the device that
                expires first.
            expires_gte: The certificate expires at or after.
            expires_lt: The certificate expires before.
        """
        return self._pages(
            "GET",
            "/v1/admin/devices",
            models.DeviceList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "order_by": order_by,
                    "status": status,
                    "hardware_tier": hardware_tier,
                    "expires_gte": expires_gte,
                    "expires_lt": expires_lt,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        device_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Device:
        """Read one device.

        The answer has the certificate, and what the service knows of the hardware.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/admin/devices/{}", device_id),
            models.Device,
            timeout=timeout,
        )

    async def revoke(
        self,
        device_id: str,
        *,
        reason: str,
        actor: str | None = None,
        effective_at: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Device:
        """Revoke a device permanently.

        Later captures of the device raise `device_revoked`, whatever their time. Captures that were accepted at or
        after `effective_at` are re-evaluated: see `GET /v1/account/reevaluations`. Its key can not be enrolled
        again. A repeat changes nothing.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.

        Args:
            actor: Who revokes the device, for its history.
            effective_at: Captures accepted from this time on are not trusted. Now when absent; the time may be in
                the past.
        """
        return await self._json(
            "POST",
            path("/v1/admin/devices/{}/revoke", device_id),
            models.Device,
            body=given({"reason": reason, "actor": actor, "effective_at": effective_at}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        device_id: str,
        *,
        name: str | None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Device:
        """Give a device another name, or none.

        The name is for people, and no result depends on it. A repeat changes nothing.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "PATCH",
            path("/v1/admin/devices/{}", device_id),
            models.Device,
            body=given({"name": name}, "name"),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncEventsConsumersMethods(AsyncGroup):
    async def delete(
        self,
        name: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeletedEventConsumer:
        """Delete a consumer. Its events stay.

        A consumer of the same name may be created again, at any position.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/event-consumers/{}", name),
            models.DeletedEventConsumer,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.EventConsumer, models.EventConsumerList]:
        """The consumers of events, by name.

        Each consumer shows its position, and how many events are left for it.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/event-consumers",
            models.EventConsumerList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def move(
        self,
        name: str,
        *,
        if_match: str | None = None,
        position: int | None = None,
        expected_position: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.EventConsumer:
        """Create a consumer, or store the position up to which it has processed events.

        Report a position when the events up to it are processed. A position only moves forward: a lower one is 409
        `consumer_moved` with the current `position`, and so is a wrong `expected_position`. A position that the
        consumer never received is refused. To read again from an earlier position, read with `after`, or delete the
        consumer. The answer is 410 `events_expired` where events after the position were deleted (they are kept for
        30 days). 

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            position: Position that the consumer received, such as `next_after`. When absent, a new consumer begins
                with the oldest stored event.
            expected_position: `after` of the answer that was processed. The report is 409 `consumer_moved` where
                another process has moved the consumer meanwhile.
        """
        return await self._json(
            "PUT",
            path("/v1/event-consumers/{}", name),
            models.EventConsumer,
            headers={"If-Match": if_match},
            body=given({"position": position, "expected_position": expected_position}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        name: str,
        *,
        timeout: float | None = None,
    ) -> models.EventConsumer:
        """One consumer, and how far behind it is.

        `lag` counts events of all types.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
        """
        return await self._json(
            "GET",
            path("/v1/event-consumers/{}", name),
            models.EventConsumer,
            timeout=timeout,
        )


class AsyncEventsTypesMethods(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncPages[models.EventTypeEntry, models.EventTypeEntryList]:
        """List every type of event, with its schema and an example.

        The list is one page. Payloads are checked against these schemas before they are stored.

        No key is needed. Generators of code have no key.
        """
        return self._pages(
            "GET",
            "/v1/event-types",
            models.EventTypeEntryList,
            timeout=timeout,
        )

    async def retrieve(
        self,
        type: str,
        *,
        timeout: float | None = None,
    ) -> models.EventTypeEntry:
        """Read one type of event.

        Types that this version of the service does not send yet are included.

        No key is needed. Generators of code have no key.
        """
        return await self._json(
            "GET",
            path("/v1/event-types/{}", type),
            models.EventTypeEntry,
            timeout=timeout,
        )


class AsyncEventsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.consumers = AsyncEventsConsumersMethods(transport)
        self.types = AsyncEventsTypesMethods(transport)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        event_type: literals.EventType | Sequence[literals.EventType] | None = None,
        subject_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Event, models.EventList]:
        """List events, newest first.

        Lists the events of the last 30 days, for pages. To process each event once, pull the events. A user gets
        the events that their role may read. `subject_id` finds the events of one claim, case, agent session, token
        and so on; it matches the claim of an event and the narrowest other object that the event names. An event is
        listed within seconds.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
            subject_id: Id of the subject of the events: a claim, case, attestation, screening, agent session,
                agent, intent token, device, trace or diff.
        """
        return self._pages(
            "GET",
            "/v1/events",
            models.EventList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "event_type": event_type,
                    "subject_id": subject_id,
                }
            ),
            timeout=timeout,
        )

    async def pull(
        self,
        *,
        after: int | None = None,
        consumer: str | None = None,
        event_type: literals.EventType | Sequence[literals.EventType] | None = None,
        limit: int | None = None,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.EventPull:
        """Pull the events after a position, oldest first.

        Returns the same events as webhooks do, for receivers that can not be called. An event gets its position
        within two seconds of its commit, and no event ever appears before one that was shown. Continue with
        `next_after`: no event is missed or repeated. The answer is 410 `events_expired` where events after the
        position were deleted (they are kept for 30 days). With `wait` (or `Prefer: wait=N`), the service answers at
        the first event, or when the seconds are over.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            after: Position to read after; when absent, the oldest stored event comes first.
            consumer: Reads from the position of this consumer, in place of `after`.
            limit: Most items of a page; 20 when absent.
            wait: Seconds to wait for an event where there is none; same as `Prefer: wait=`.
        """
        return await self._json(
            "GET",
            "/v1/events/pull",
            models.EventPull,
            query=given(
                {
                    "after": after,
                    "consumer": consumer,
                    "event_type": event_type,
                    "limit": limit,
                    "wait": wait,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Event:
        """One event.

        The event is the same as in its deliveries, and is kept for 30 days.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        answer: models.Event = await self._json_union(
            "GET",
            path("/v1/events/{}", event_id),
            models.Event,
            timeout=timeout,
        )
        return answer


class AsyncIntentChallengesMethods(AsyncGroup):
    async def create(
        self,
        *,
        action_description: str,
        action_payload: Mapping[str, Any],
        agent_session_id: str,
        device_id: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PasskeyChallenge:
        """Ask for a challenge by which a person confirms one action with a passkey.

        A person confirms the action in a browser, with `options`. Send the browser’s answer as `passkey_assertion`
        of the request that the challenge is for. The challenge works for two minutes, once, and for exactly this
        action, agent session and device. The challenge of a session is for the passkeys of its own user; the
        challenge of a key is for the passkeys of every user of the account.

        Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            action_payload: At most 64 KiB as canonical JSON (RFC 8785) and 32 levels.
        """
        return await self._json(
            "POST",
            "/v1/intent/challenges",
            models.PasskeyChallenge,
            body=given(
                {
                    "action_description": action_description,
                    "action_payload": action_payload,
                    "agent_session_id": agent_session_id,
                    "device_id": device_id,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncIntentExecutionsMethods(AsyncGroup):
    async def report(
        self,
        jti: str,
        *,
        status: literals.IntentOutcome,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Execution:
        """Report how an executed action ended.

        Reports once how an executed action ended. Only the caller that executed it may; the successor
        of a rotated API key is the same caller here. `failed` and `not_run` give back what the execution charged to
        a mandate, or the cycle
        of a schedule. They do not make the token usable again, and an order stays executed.

        Scope `verify`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/intent/executions/{}/outcome", jti),
            models.Execution,
            body=given({"status": status}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        jti: str,
        *,
        timeout: float | None = None,
    ) -> models.Execution:
        """Read the outcome of an executed action.

        Shows when the action of a token was executed, and how it ended if that was reported.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/intent/executions/{}", jti),
            models.Execution,
            timeout=timeout,
        )


class AsyncIntentRevocationsMethods(AsyncGroup):
    async def create(
        self,
        *,
        scope: literals.RevokedScope,
        reason: str,
        jti: str | None = None,
        agent_session_id: str | None = None,
        device_id: str | None = None,
        expires_at: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Revocation:
        """Revoke a token, or all tokens of an agent session or a device, from the next verify on.

        From the commit on, no verify of any process accepts a token that the revocation ends: one token, or every
        unexpired token of an agent session or a device. These tokens stay revoked. A revoked session or device gets
        no new tokens, until `expires_at` where that is given. A longer existing revocation stays as it is. Send the
        member that belongs to the scope: `jti`, `agent_session_id` or `device_id`. Publishable keys revoke tokens
        only.

        Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
        emergencies.

        Args:
            jti: Id of the token.
            reason: Reason for people. The event has it; in the ledger it is sealed.
            expires_at: A session or device gets no new tokens until this time; when absent, it never gets new
                tokens.
        """
        return await self._json(
            "POST",
            "/v1/intent/revocations",
            models.Revocation,
            body=given(
                {
                    "scope": scope,
                    "jti": jti,
                    "agent_session_id": agent_session_id,
                    "device_id": device_id,
                    "reason": reason,
                    "expires_at": expires_at,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        scope: literals.RevokedScope | Sequence[literals.RevokedScope] | None = None,
        subject_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Revocation, models.RevocationList]:
        """List revocations, newest first.

        The list includes revocations that have expired, and revocations of devices in their registry.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            subject_id: Id of a token, an agent session or a device.
        """
        return self._pages(
            "GET",
            "/v1/intent/revocations",
            models.RevocationList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "scope": scope,
                    "subject_id": subject_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        revocation_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Revocation:
        """Read one revocation.

        A revocation never changes.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/intent/revocations/{}", revocation_id),
            models.Revocation,
            timeout=timeout,
        )


class AsyncIntentStatusMethods(AsyncGroup):
    async def retrieve(
        self,
        jti: str,
        *,
        timeout: float | None = None,
    ) -> models.IntentStatus:
        """Read whether a token is active, revoked or expired.

        A relying party that verified a token offline calls this. `revoked` stays `revoked` after the token has
        expired. A verify also checks the policy, the agent and the account. Tokens that expired a month ago are not
        found.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/intent/status/{}", jti),
            models.IntentStatus,
            timeout=timeout,
        )


class AsyncIntentStatusListsMethods(AsyncGroup):
    async def retrieve(
        self,
        status_list_id: str,
        *,
        timeout: float | None = None,
    ) -> AsyncDownload:
        """Read which tokens are revoked, as a signed Token Status List.

        A JWT of type `statuslist+jwt` (draft-ietf-oauth-status-list), signed like the tokens. `status_list.lst` has
        two bits for each token, at the `idx` of its claim `status`: 0 valid, 1 revoked. A revocation is in the list
        within 30 seconds; keep a list for `ttl` seconds. It does not include the policy, the agent or a stop: POST
        /v1/intent/verify checks those.

        No key is needed. Every holder of a token may check it offline; the list names no account and no token.
        """
        return await self._download(
            "GET",
            path("/v1/intent/status-lists/{}", status_list_id),
            accept="application/statuslist+jwt",
            timeout=timeout,
        )


class AsyncIntentMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.challenges = AsyncIntentChallengesMethods(transport)
        self.executions = AsyncIntentExecutionsMethods(transport)
        self.revocations = AsyncIntentRevocationsMethods(transport)
        self.status = AsyncIntentStatusMethods(transport)
        self.status_lists = AsyncIntentStatusListsMethods(transport)

    async def authorize(
        self,
        *,
        action_description: str,
        action_payload: Mapping[str, Any],
        agent_session_id: str,
        device_id: str,
        action_type: str | None = None,
        context: Mapping[str, Any] | None = None,
        context_evidence: Mapping[str, Any] | str | None = None,
        trace_id: str | None = None,
        inference_input: params.ReadTextParam | None = None,
        agent_id: str | None = None,
        audience: str | None = None,
        ttl_seconds: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        passkey_assertion: params.PasskeyAssertionParam | None = None,
        mandate_id: str | None = None,
        schedule_id: str | None = None,
        order_id: str | None = None,
        single_use: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Authorization:
        """Issue a token for one action.

        Issues a token that is bound to exactly this action: to the description byte for byte, and to the payload as
        canonical JSON (RFC 8785). The party that runs the action presents the token with the same description and
        payload to
        `POST /v1/intent/verify`. The token holds hashes only.

        With `single_use` the token can be executed once. Without it, a token that no mandate, schedule or approval
        binds stays valid after an
        execution.

        `agent_session_id` and `device_id` are any strings of yours; ids of this service (`ses_`, `dev_`) bring the
        session's agent and
        the device's hardware tier. `trace_id` binds the trace's stored canary reading; with `inference_input` a
        model of the service takes
        one first, and a model that can't is an error. A trace of another session or agent is refused. Where the
        kill switch refuses a check of that
        reading, or of the session's newest trip, authorize refuses with 409 `canary_tripped`, on the ledger, and
        locks as a check does.
        `context` is what rules of the policy read.

        `mandate_id`, `schedule_id` or `order_id` (one of them) names what the token is issued under; verify
        compares the payload with it and charges it, or executes the order.
        A mandate with an agent is for that agent only. `passkey_assertion` binds the token to the person who
        confirmed exactly this action
        with a passkey: ask for a challenge with `POST /v1/intent/challenges`.

        Where a rule of the policy requires an approval and nothing else refuses, people are asked: the answer has
        `approval_id`, and the
        token lives 300 seconds longer than its approval can be decided. Once approved, it is valid for
        `ttl_seconds` from the decision on,
        never longer than it lives, and for one execution.

        `preflight` says what verify would answer now. A rule that asks a webhook shows as `policy_webhook_pending`:
        it is asked at verify only.
        A canary condition is judged by the stored reading of the token's trace. Where that is missing, too old or
        not enough, it shows as
        `canary_unavailable` with mode `strict`, and passes with `best_effort`; verify may be given another
        `trace_id` or an `inference_input`, and then answers by that.

        A repeat with the same Idempotency-Key returns the same token to the same principal until the token expires;
        then
        `intent_token` is null.

        Scope `intent`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            action_payload: At most 64 KiB as canonical JSON (RFC 8785) and 32 levels.
            context: Facts that rules of the policy read as `context`. `transaction_amount` and `require_biometric`
                have a meaning.
            context_evidence: Evidence that is hashed and not stored. At most 64 KiB as canonical JSON.
            inference_input: Input that a model of the service reads; the token is bound to that trace. Not with
                `trace_id`.
            ttl_seconds: Default: `300`.
            metadata: At most 64 KiB as canonical JSON (RFC 8785) and 32 levels.
            passkey_assertion: Binds the token to the person who confirmed exactly this action: see POST
                /v1/intent/challenges.
            mandate_id: The mandate to act under. Not with `schedule_id` or `order_id`.
            schedule_id: The schedule whose cycle this is. Not with `mandate_id` or `order_id`.
            order_id: The order of a clinician that is to be executed, once. Not with `mandate_id` or `schedule_id`.
            single_use: The token can be executed once, as under a mandate, a schedule, an order or an approval.
                Otherwise it stays valid after an execution, with `already_executed`.
        """
        return await self._json(
            "POST",
            "/v1/intent/authorize",
            models.Authorization,
            body=given(
                {
                    "action_description": action_description,
                    "action_payload": action_payload,
                    "agent_session_id": agent_session_id,
                    "device_id": device_id,
                    "action_type": action_type,
                    "context": context,
                    "context_evidence": context_evidence,
                    "trace_id": trace_id,
                    "inference_input": inference_input,
                    "agent_id": agent_id,
                    "audience": audience,
                    "ttl_seconds": ttl_seconds,
                    "metadata": metadata,
                    "passkey_assertion": passkey_assertion,
                    "mandate_id": mandate_id,
                    "schedule_id": schedule_id,
                    "order_id": order_id,
                    "single_use": single_use,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.IntentTokenStatus | Sequence[literals.IntentTokenStatus] | None = None,
        agent_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Intent, models.IntentList]:
        """List issued tokens, newest first.

        Lists issued tokens and their outcomes. Only the answer of authorize has the token itself. `status` is the
        same as in GET /v1/intent/status/{jti}: an executed token stays active until it expires. Tokens that expired
        a month ago are not listed.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/intents",
            models.IntentList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "agent_id": agent_id,
                }
            ),
            timeout=timeout,
        )

    async def resume(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IntentStop:
        """Resume the agents of the account after a stop.

        Tokens that have not expired meanwhile verify again. Without a stop the request changes nothing.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also
        developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            "/v1/intent/resume",
            models.IntentStop,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve_stop(
        self,
        *,
        timeout: float | None = None,
    ) -> models.IntentStop:
        """Read whether the agents of the account are stopped in this environment.

        The answer is the last stop, whether it is in force or lifted.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "GET",
            "/v1/intent/stop",
            models.IntentStop,
            timeout=timeout,
        )

    async def stop(
        self,
        *,
        reason: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.IntentStop:
        """Stop all agents of the account in this environment.

        Authorize answers 409 `account_stopped`, and verify `policy_denied` with `matched_rule_id` `system:stop`,
        until the agents are resumed. A stop while one is in force changes nothing.

        Scope `escalate`, with a key of your own account. Sessions: owner, admin, approver; in sandbox also
        developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            "/v1/intent/stop",
            models.IntentStop,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def verify(
        self,
        *,
        intent_token: str,
        action_description: str,
        action_payload: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        context_evidence: Mapping[str, Any] | str | None = None,
        trace_id: str | None = None,
        inference_input: params.ReadTextParam | None = None,
        agent_session_id: str | None = None,
        device_id: str | None = None,
        audience: str | None = None,
        counterparty: str | None = None,
        execute: bool | None = None,
        receipt: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.VerifyResult:
        """Answer whether an action may run now.

        Answers whether this action may run now, and records the answer in the decision ledger. A refusal is an
        answer: the
        status is 200, `valid` is false and `reason` says why. Any other status is no permission either.

        With `execute` (the default) the first valid answer marks the token as executed, and its caller runs the
        action and reports the
        outcome. **Send an Idempotency-Key for each attempt to run an action**: it tells a repeat, whose first
        answer was lost, from a second
        payment. The same caller with the same key is answered valid again, with `already_executed`. A request
        without a key repeats nothing.

        Under a mandate the first valid execution charges its budget and those of all mandates above it, under a
        schedule it uses the cycle.
        Then every other caller, every other key and every request without a key is refused, with
        `schedule_already_executed` under a schedule and
        `token_already_executed` under a mandate, after an approval, or with `single_use`. A token without any of
        these stays valid, with
        `already_executed`.

        `agent_session_id`, `device_id`, `audience` and `context_evidence` are compared where they are given. Where
        the policy has `require_bindings`, a binding that the request leaves out is answered as if it differed.

        `execute: false` answers what executing would answer this caller with this key, uses nothing up and opens no
        approval.
        `mandate_remaining` and `schedule_cycle` say how things stand after this answer. Under load of one mandate
        the status may be 503 with
        `Retry-After`: repeat with the same key.

        A policy that was tightened since authorize may require an approval now: an execution opens it, once for
        each token.

        `receipt: true` adds a JWS of the answer (type `verify-receipt+jwt`, by a record key).

        Scope `verify`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            action_payload: At most 64 KiB as canonical JSON (RFC 8785) and 32 levels.
            context: Facts that rules of the policy read as `context`. `transaction_amount` and `require_biometric`
                have a meaning.
            context_evidence: Evidence that is hashed and not stored. At most 64 KiB as canonical JSON.
            inference_input: Input that a model of the service reads within 5 seconds, where a condition of the
                policy asks for canaries.
            execute: Default: `true`.
            receipt: Default: `false`.
        """
        return await self._json(
            "POST",
            "/v1/intent/verify",
            models.VerifyResult,
            body=given(
                {
                    "intent_token": intent_token,
                    "action_description": action_description,
                    "action_payload": action_payload,
                    "context": context,
                    "context_evidence": context_evidence,
                    "trace_id": trace_id,
                    "inference_input": inference_input,
                    "agent_session_id": agent_session_id,
                    "device_id": device_id,
                    "audience": audience,
                    "counterparty": counterparty,
                    "execute": execute,
                    "receipt": receipt,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncMandatesSpendMethods(AsyncGroup):
    async def retrieve(
        self,
        mandate_id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.MandateDailySpend:
        """Read what was spent under a mandate, by day.

        Adds up the charges of the budget by the day (UTC) on which the action was executed; the charges of children
        are included. Charges are kept for 45 days, and a period has at most 25,000. A mandate without a budget is
        charged nothing: GET /v1/analytics/mandate-spend adds up its executions.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            from_: Start, inclusive; 30 days before `to` when absent, at most 45.
            to: End, exclusive; now when absent.
        """
        return await self._json(
            "GET",
            path("/v1/mandates/{}/spend", mandate_id),
            models.MandateDailySpend,
            query=given({"from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncMandatesMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.spend = AsyncMandatesSpendMethods(transport)

    async def create(
        self,
        *,
        principal: str,
        description: str,
        expires_at: str,
        agent_id: str | None = None,
        timezone: str | None = None,
        constraints: params.RequestedMandateConstraintsParam | None = None,
        budget: params.RequestedMandateBudgetParam | None = None,
        not_before: str | None = None,
        instruments: Sequence[str] | None = None,
        payload_pointers: params.MandatePayloadPointersParam | models.MandatePayloadPointers | None = None,
        heartbeat: params.RequestedMandateHeartbeatParam | None = None,
        parent_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Mandate:
        """Grant a mandate.

        A mandate lets an agent act: it has constraints for each action, a budget for all actions, and an expiry. An
        unknown constraint is refused. With `parent_id` the mandate lies within its parent: its terms may not exceed
        the terms of any ancestor, its budget may not exceed what the ancestors have left, and every charge is made
        on all of them. It needs `escalate`: an agent whose key has `intent` can not grant itself a mandate.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.

        Args:
            principal: Party for whom the agent acts: a person, a team, an id.
            agent_id: Only tokens of this agent may name the mandate. When absent, any agent may.
            timezone: Time zone of the periods of the budget and of the window. Default: `UTC`.
            not_before: No action may run before this time; when absent, actions may run from the grant on.
            instruments: Payment instruments that actions may name; any when absent.
            payload_pointers: Pointers to the compared values in `action_payload`. Without a pointer, the member of
                the same name is compared.
            expires_at: End of the mandate, in the future and at most 366 days from now.
            parent_id: The mandate within which it is granted.
        """
        return await self._json(
            "POST",
            "/v1/mandates",
            models.Mandate,
            body=given(
                {
                    "principal": principal,
                    "agent_id": agent_id,
                    "description": description,
                    "timezone": timezone,
                    "constraints": constraints,
                    "budget": budget,
                    "not_before": not_before,
                    "instruments": instruments,
                    "payload_pointers": payload_pointers,
                    "expires_at": expires_at,
                    "heartbeat": heartbeat,
                    "parent_id": parent_id,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def heartbeat(
        self,
        mandate_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Mandate:
        """Check in for a mandate, so that it is not suspended.

        A mandate with a heartbeat is suspended when no check-in comes within its interval and 60 s. A check-in
        within the reactivation window makes the mandate active again; after the window the mandate is `lapsed`
        permanently, and a check-in is 409. A mandate without a heartbeat is 409 `conflict`.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/mandates/{}/heartbeat", mandate_id),
            models.Mandate,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.MandateStatus | Sequence[literals.MandateStatus] | None = None,
        agent_id: str | None = None,
        parent_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Mandate, models.MandateList]:
        """List mandates, newest first.

        A mandate must match all filters, and any of the given values of `status`. `status` takes the ancestors into
        account, and follows the clock: a mandate expires or is suspended on time without any job.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            agent_id: The only agent that may act under the mandate.
            parent_id: Children of this mandate, without further descendants.
        """
        return self._pages(
            "GET",
            "/v1/mandates",
            models.MandateList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "agent_id": agent_id,
                    "parent_id": parent_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        mandate_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Mandate:
        """Read one mandate, with what is left of its budget.

        `budget` is the mandate’s own budget; `remaining` is the most that an action may cost, with the budgets of
        its ancestors. The periods of a budget are calendar days, weeks from Monday on, months and years in the
        mandate’s time zone.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/mandates/{}", mandate_id),
            models.Mandate,
            timeout=timeout,
        )

    async def revoke(
        self,
        mandate_id: str,
        *,
        reason: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Mandate:
        """End a mandate and its children, from the next decision on.

        From the commit on, no verify of any process accepts a token of the mandate or of its descendants. A mandate
        that is revoked stays as it is. Other requests do not count against the rate limit of this one.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/mandates/{}/revoke", mandate_id),
            models.Mandate,
            body=given({"reason": reason}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        mandate_id: str,
        *,
        if_match: str | None = None,
        agent_id: str | None = None,
        constraints: params.RequestedMandateConstraintsParam | None = None,
        budget: params.RequestedBudgetChangeParam | None = None,
        not_before: str | None = None,
        instruments: Sequence[str] | None = None,
        expires_at: str | None = None,
        heartbeat: params.RequestedMandateHeartbeatParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Mandate:
        """Make a mandate allow less.

        Members that are absent keep their values. A change may add a limit or lower one; in a child, limits stay
        within the ancestors. A member that would allow more is refused with the code `wider`. A change of
        `heartbeat` counts as a check-in; without `reactivation_window_seconds` the window keeps its length.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            constraints: Members that are absent keep their values.
            budget: `currency` and `period` are required where the mandate has no budget yet.
        """
        return await self._json(
            "PATCH",
            path("/v1/mandates/{}", mandate_id),
            models.Mandate,
            headers={"If-Match": if_match},
            body=given(
                {
                    "agent_id": agent_id,
                    "constraints": constraints,
                    "budget": budget,
                    "not_before": not_before,
                    "instruments": instruments,
                    "expires_at": expires_at,
                    "heartbeat": heartbeat,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncMediaC2paAnchorsMethods(AsyncGroup):
    async def create(
        self,
        *,
        name: str,
        certificate: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.C2paAnchor:
        """Trust a CA certificate (PEM, or base64 of DER) that signers of C2PA manifests may lead to.

        A manifest is `trusted` when its signer leads to an anchor of the account or of the deployment.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.

        Args:
            certificate: Certificate as PEM, or base64 of DER.
        """
        return await self._json(
            "POST",
            "/v1/admin/c2pa-anchors",
            models.C2paAnchor,
            body=given({"name": name, "certificate": certificate}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def delete(
        self,
        c2pa_anchor_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeletedC2paAnchor:
        """Stop trusting an anchor of C2PA manifests in later evaluations.

        Earlier results stay as they are.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/admin/c2pa-anchors/{}", c2pa_anchor_id),
            models.DeletedC2paAnchor,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.C2paAnchor, models.C2paAnchorList]:
        """List anchors of C2PA manifests, newest first.

        Each anchor has its certificate in PEM. The list leaves out the deployment’s anchors.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/admin/c2pa-anchors",
            models.C2paAnchorList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        c2pa_anchor_id: str,
        *,
        timeout: float | None = None,
    ) -> models.C2paAnchor:
        """Read one anchor of C2PA manifests.

        The answer has the certificate in PEM.

        Scope `admin`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/admin/c2pa-anchors/{}", c2pa_anchor_id),
            models.C2paAnchor,
            timeout=timeout,
        )


class AsyncMediaMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.c2pa_anchors = AsyncMediaC2paAnchorsMethods(transport)

    async def download(
        self,
        media_id: str,
        *,
        range: str | None = None,
        if_range: str | None = None,
        timeout: float | None = None,
    ) -> AsyncDownload:
        """Download the original bytes, or one range of them.

        Returns the uploaded bytes unchanged, as an attachment. The ETag is the SHA-256 in hex.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            range: `bytes=0-1023`: one range (RFC 9110 14.2).
            if_range: An ETag: the range applies only while the ETag is the same.
        """
        return await self._download(
            "GET",
            path("/v1/media/{}", media_id),
            headers={"Range": range, "If-Range": if_range},
            accept="application/octet-stream",
            timeout=timeout,
        )

    async def download_thumbnail(
        self,
        media_id: str,
        *,
        timeout: float | None = None,
    ) -> AsyncDownload:
        """A small upright picture (WebP, 320 pixels at its longest side) without metadata.

        The picture is made at the first request. The answer is 404 where the service can not read the pixels
        (HEIC), or not within 8 s and 768 MB. The service decodes one picture of an account at a time: while 64 more
        wait, the answer is 503 with `Retry-After`.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._download(
            "GET",
            path("/v1/media/{}/thumbnail", media_id),
            accept="image/webp",
            timeout=timeout,
        )

    async def retrieve(
        self,
        media_id: str,
        *,
        timeout: float | None = None,
    ) -> models.MediaDetails:
        """Read the type, size and dimensions of a photo or a video, and the claims that show it.

        The answer contains no bytes of the media. `width` and `height` are as stored in the file, before any
        rotation, and null for a video.

        Scope `verify`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/media/{}/metadata", media_id),
            models.MediaDetails,
            timeout=timeout,
        )

    async def upload(
        self,
        body: AsyncSource,
        *,
        content_digest: str | None = None,
        content_type: Literal["image/jpeg", "image/png", "image/webp", "image/heic", "image/avif", "image/tiff", "video/mp4", "video/quicktime", "video/webm"] | None = None,
        on_progress: Progress | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Media:
        """Upload a photo (up to 100 MB) or a video (up to 2 GiB). The same bytes are the same media_id.

        The body is the raw bytes. The content type is detected from the bytes and must agree with the header.
        Uploading the same bytes again answers the same `media_id`. Unreferenced media are deleted after 7 days.

        Scope `attest`. Sessions: owner, admin; in sandbox also developer.

        Args:
            content_digest: `sha-256=:<base64>:` (RFC 9530): compared with the received bytes.
        """
        return await self._upload(
            "POST",
            "/v1/media",
            body,
            models.Media,
            headers={"Content-Digest": content_digest},
            content_type=content_type,
            on_progress=on_progress,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncOrgInvitesMethods(AsyncGroup):
    async def accept(
        self,
        *,
        token: str,
        close_own_account: bool | None = None,
        timeout: float | None = None,
    ) -> models.Session:
        """Accept an invite and sign in with its role. The token works once.

        No session is needed: the token proves that the caller reads the mailbox. With a session of another address,
        where the address belongs to a user already, and while the account is closed, the answer is 409 and the
        invite stays pending. Where that user is of another account, `errors` says at `/close_own_account` what to
        do: `session_required`, `leave_first`, `other_users`, `account_not_empty`, `account_suspended`,
        `being_erased` or `confirmation_required`. With `close_own_account: true` a person who is signed in as the
        only user of an account that has nothing yet, or is closed, leaves it: it is closed, in the same
        transaction. A token that does not work is `invalid_request` at `/token`, whatever the reason, also where
        the API key that sent it has expired or was revoked. Login links of the address stop working.
        `Idempotency-Key` is ignored: a token works once.

        No key is needed. The token is the credential.

        Args:
            close_own_account: The person is signed in as the only user of another account, which is closed with it;
                see the guide Team. The header X-CSRF-Token is required then.
        """
        return await self._json(
            "POST",
            "/v1/org/invites/accept",
            models.Session,
            body=given({"token": token, "close_own_account": close_own_account}),
            is_repeatable=False,
            timeout=timeout,
        )

    async def create(
        self,
        *,
        email: str,
        role: literals.Role,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Invite:
        """Invite a person by e-mail to become a user with a role.

        The mail contains a link that works once, for 7 days. An address has one pending invite. Only an owner who
        has just signed in invites an owner, and no API key does. An API key grants no role that can do more than
        the key (`role_limit`): `admin` takes every scope, `approver` the scope `escalate`, `developer` the scopes
        attest, verify, intent and screen, each without an end, `ip_allow` or `products`. An account may send 200
        invites an hour, and five a day to one address.

        Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
        """
        return await self._json(
            "POST",
            "/v1/org/users/invite",
            models.Invite,
            body=given({"email": email, "role": role}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.InviteStatus | Sequence[literals.InviteStatus] | None = None,
        role: literals.Role | Sequence[literals.Role] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Invite, models.InviteList]:
        """List invites, newest first.

        Ended invites are listed for 30 days after the day on which they would have expired.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/org/invites",
            models.InviteList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "role": role,
                }
            ),
            timeout=timeout,
        )

    async def resend(
        self,
        invite_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Invite:
        """Send an invite again, with another token; the token before no longer works.

        Works for a pending or an expired invite. The new link works for 7 days, and the invite belongs to its new
        sender. An API key grants no role that can do more than the key (`role_limit`): `admin` takes every scope,
        `approver` the scope `escalate`, `developer` the scopes attest, verify, intent and screen, each without an
        end, `ip_allow` or `products`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
        """
        return await self._json(
            "POST",
            path("/v1/org/invites/{}/resend", invite_id),
            models.Invite,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        invite_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Invite:
        """Read one invite.

        Ended invites are kept for 30 days after the day on which they would have expired.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.
        """
        return await self._json(
            "GET",
            path("/v1/org/invites/{}", invite_id),
            models.Invite,
            timeout=timeout,
        )

    async def revoke(
        self,
        invite_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Invite:
        """Revoke an invite.

        Its link no longer works. Revoking an invite that was revoked or has expired changes nothing.

        Scope `admin`, with a key of your own account. Sessions: owner, admin. A rate limit of its own, for
        emergencies.
        """
        return await self._json(
            "DELETE",
            path("/v1/org/invites/{}", invite_id),
            models.Invite,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncOrgUsersMethods(AsyncGroup):
    async def delete(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.UserRemoval:
        """Remove a user; their sessions end at once, and only an invite makes them a user again.

        Removing a removed user changes nothing. API keys that the user created go on working, and are listed. The
        last owner can’t be removed, and removing an owner takes a session that began less than 10 minutes ago.
        Possible on every plan.

        Scope `admin`, with a key of your own account. Sessions: owner, admin.
        """
        return await self._json(
            "DELETE",
            path("/v1/org/users/{}", user_id),
            models.UserRemoval,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def leave(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.UserRemoval:
        """Leave the account: remove yourself, whatever your role.

        The last owner can’t leave. An owner leaves with a session that began less than 10 minutes ago.

        No API key: a session only. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "DELETE",
            "/v1/org/users/me",
            models.UserRemoval,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.UserStatus | Sequence[literals.UserStatus] | None = None,
        role: literals.Role | Sequence[literals.Role] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.User, models.UserList]:
        """List the users of the account, newest first; removed ones too.

        A removed user stays listed: a removed address returns only by an invite, and the audit log names the id.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/org/users",
            models.UserList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "role": role,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        user_id: str,
        *,
        timeout: float | None = None,
    ) -> models.User:
        """Read one user, removed ones too.

        `status` is `deprovisioned` after the user was removed, or left.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            path("/v1/org/users/{}", user_id),
            models.User,
            timeout=timeout,
        )

    async def update(
        self,
        user_id: str,
        *,
        role: literals.Role,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.UserRoleChange:
        """Change the role of a user.

        The sessions of the user end; the session that changes its own user’s role goes on with new cookies. Only an
        owner whose session began less than 10 minutes ago grants or takes the role owner, and no API key does. An
        API key grants no role that can do more than the key (`role_limit`): `admin` takes every scope, `approver`
        the scope `escalate`, `developer` the scopes attest, verify, intent and screen, each without an end,
        `ip_allow` or `products`. The last owner keeps it. Pending invites that the user could not send any more are
        revoked. API keys that the user created go on working, and are listed.

        Scope `admin`, with a key of your own account. Sessions: owner, admin. Plan enterprise.
        """
        return await self._json(
            "PATCH",
            path("/v1/org/users/{}", user_id),
            models.UserRoleChange,
            body=given({"role": role}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncOrgMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.invites = AsyncOrgInvitesMethods(transport)
        self.users = AsyncOrgUsersMethods(transport)


class AsyncOverviewChangelogMethods(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncPages[models.ChangelogVersion, models.ChangelogVersionList]:
        """List the versions of this service, newest first, and what changed in each.

        The changelog of this service as data. With `If-None-Match` the answer is 304 until the changelog has
        changed.

        No key is needed. Readers look at it before they have a key.
        """
        return self._pages(
            "GET",
            "/v1/changelog",
            models.ChangelogVersionList,
            timeout=timeout,
        )


class AsyncOverviewReasonCodesMethods(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncPages[models.ReasonCode, models.ReasonCodeList]:
        """List every reason code: where it appears, what it means, and what to do about it.

        All of them in one page, in the order in which they are answered. Rules of a policy may answer with reasons
        of their own, which are not here. The same texts are in [the
        guide](https://api.example.test/docs/authorize/reasons).

        No key is needed. Pages and tools explain codes without a key.
        """
        return self._pages(
            "GET",
            "/v1/reason-codes",
            models.ReasonCodeList,
            timeout=timeout,
        )


class AsyncOverviewRolesMethods(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncPages[models.RoleEntry, models.RoleEntryList]:
        """List the roles of users, and what each may do.

        All of them in one page, the one with the most permissions first. What a session may do is in `permissions`
        of `GET /v1/auth/session`: the plan and the state of the account take some away.

        No key is needed. It is published at /docs/roles as well.
        """
        return self._pages(
            "GET",
            "/v1/roles",
            models.RoleEntryList,
            timeout=timeout,
        )


class AsyncOverviewMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.changelog = AsyncOverviewChangelogMethods(transport)
        self.reason_codes = AsyncOverviewReasonCodesMethods(transport)
        self.roles = AsyncOverviewRolesMethods(transport)

    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Overview:
        """Count the work that waits for you, in all products.

        Counts what waits for the caller, in one environment. Each part is shown to those who may call the route
        that lists its rows; another part is null, and `not_readable` names it. Counts go to 1,000. See [the
        overview](https://api.example.test/docs/reference/overview).

        Any API key. Sessions: owner, admin, approver, analyst, developer.
        """
        return await self._json(
            "GET",
            "/v1/overview",
            models.Overview,
            timeout=timeout,
        )

    async def search(
        self,
        *,
        q: str,
        timeout: float | None = None,
    ) -> models.SearchResults:
        """Find an object by the beginning of its id or name.

        Finds objects of one environment whose id, claim reference or external id begins with the text, members of
        the account by their e-mail address, and agents by their name, in any case. It shows only what the caller
        may read by the routes of that type. An id is searched from its type on, such as `clm_`. See [the
        overview](https://api.example.test/docs/reference/overview#search).

        Any API key. Sessions: owner, admin, approver, analyst, developer.

        Args:
            q: The beginning of an id, a claim reference, an external id, the e-mail address of a member, or the
                name of an agent.
        """
        return await self._json(
            "GET",
            "/v1/search",
            models.SearchResults,
            query=given({"q": q}),
            timeout=timeout,
        )


class AsyncPolicyShadowReportMethods(AsyncGroup):
    def list(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ShadowRule, models.PolicyShadowReport]:
        """Report what the shadow rules would have done, and where they differ from the answers.

        Reads the recorded rule results. A page examines at most 2,000 decisions, and fewer where decisions are
        long. Ask for the next page while `has_more`, and add up the numbers of each rule. As NDJSON, a rule has one
        line for each page.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            from_: Decisions made at or after this time; default: a week before `to`.
            to: Decisions made before this time; default: now.
            cursor: `next_cursor` of the page before; send the same `from` and `to` again.
        """
        return self._pages(
            "GET",
            "/v1/policy/shadow-report",
            models.PolicyShadowReport,
            query=given({"from": from_, "to": to, "cursor": cursor}),
            timeout=timeout,
        )


class AsyncPolicyVersionsMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.PolicyVersionSummary, models.PolicyVersionSummaryList]:
        """List all versions of the policy, newest first, and who made each.

        A version never changes. `policy_version` of a decision is one of these, or 0.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/policy/versions",
            models.PolicyVersionSummaryList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        version: str,
        *,
        timeout: float | None = None,
    ) -> models.Policy:
        """Read one version of the policy.

        Version 0 is the defaults.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/policy/versions/{}", version),
            models.Policy,
            timeout=timeout,
        )


class AsyncPolicyWebhookSecretMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.PolicyWebhookSecret:
        """Read when the secret that signs questions to policy webhooks was rotated.

        Each environment of an account has its own secret. The secret itself can not be read.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/policy/webhook-secret",
            models.PolicyWebhookSecret,
            timeout=timeout,
        )

    async def rotate(
        self,
        *,
        grace_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.RotatedPolicyWebhookSecret:
        """Make a new secret for policy webhooks. It is in this answer only.

        The first call makes the first secret: until then no webhook is called, and each webhook rule that matches
        denies with `policy_webhook_unavailable`. The previous secret signs as well for `grace_seconds` (24 hours
        when absent), so that receivers can be changed one after the other; another rotation ends it at once.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            grace_seconds: Seconds during which the previous secret signs as well. Default: a day.
        """
        return await self._json(
            "POST",
            "/v1/policy/webhook-secret/rotate",
            models.RotatedPolicyWebhookSecret,
            body=given({"grace_seconds": grace_seconds}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncPolicyMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.shadow_report = AsyncPolicyShadowReportMethods(transport)
        self.versions = AsyncPolicyVersionsMethods(transport)
        self.webhook_secret = AsyncPolicyWebhookSecretMethods(transport)

    async def analyze(
        self,
        *,
        document: params.PolicyDocumentParam | models.PolicyDocument | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PolicyAnalysis:
        """Find rules that always deny, never match or never give the reason, and more.

        A finding that says always or never is proven, whatever the facts; that there is none proves nothing.
        `ineffective_when_missing` is about deny rules, `unknown_policy_field` about stored documents. No webhook is
        called: `webhook_unreachable` is about its address, and `webhook_without_secret` means that the account has
        no secret to sign questions with, so that each of them goes unanswered and refuses.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            document: Default: the stored policy.
        """
        return await self._json(
            "POST",
            "/v1/policy/analyze",
            models.PolicyAnalysis,
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def replay(
        self,
        *,
        document: params.PolicyDocumentParam | models.PolicyDocument,
        from_: str,
        to: str,
        limit: int | None = None,
        cursor: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PolicyReplay:
        """Find past verifications that another policy would answer differently.

        Evaluates the document over the facts that verify recorded. A page examines at most 2,000 decisions, and
        fewer where decisions or the document are long. Ask for the next page while `has_more`, and add up the
        numbers. Webhooks and canaries answer as they did at the time.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            from_: Decisions made at or after this time.
            to: Decisions made before this time.
            limit: Maximum number of changed decisions in the answer. Default: `100`.
            cursor: `next_cursor` of the page before.
        """
        return await self._json(
            "POST",
            "/v1/policy/replay",
            models.PolicyReplay,
            body=given(
                {
                    "document": document,
                    "from": from_,
                    "to": to,
                    "limit": limit,
                    "cursor": cursor,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Policy:
        """Read the current policy, with its version as ETag.

        Per account and environment. `version` 0 is the defaults, which count until a policy is set. To change it,
        change `document` and send it back, with the ETag as `If-Match`. See the
        [guide](https://api.example.test/docs/authorize/policy).

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/policy",
            models.Policy,
            timeout=timeout,
        )

    async def rollback(
        self,
        *,
        version: int,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Policy:
        """Make a new version with the document of an earlier one.

        The earlier document becomes a new version; earlier versions stay.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Optional. The ETag of the version to replace, such as `"3"`, or `*` for any.
            version: The version to return to; 0 is the defaults.
        """
        return await self._json(
            "POST",
            "/v1/policy/rollback",
            models.Policy,
            headers={"If-Match": if_match},
            body=given({"version": version}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def simulate(
        self,
        *,
        input: params.PolicyFactsParam,
        document: params.PolicyDocumentParam | models.PolicyDocument | None = None,
        version: int | None = None,
        answers: params.SimulatedAnswersParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PolicySimulation:
        """Evaluate a policy on given facts, with the result of each rule.

        Evaluates the stored policy, one of its versions or the document in the body. It calls no webhook and reads
        no canary: `needs` says what verify would ask, and you may send the replies in `answers`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            document: Default: the stored policy.
            version: Stored version to evaluate, in place of the current one.
            input: Facts that verify would have. All members are optional.
            answers: Replies by rule id: what the policy webhook and the canaries would answer, and what people have
                approved. A webhook without a reply is pending.
        """
        return await self._json(
            "POST",
            "/v1/policy/simulate",
            models.PolicySimulation,
            body=given(
                {
                    "document": document,
                    "version": version,
                    "input": input,
                    "answers": answers,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        *,
        if_match: str,
        document: params.PolicyDocumentParam | models.PolicyDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Policy:
        """Replace the policy by a new version.

        Makes a new version, which applies to every later decision; the same document again makes none. Without
        `If-Match` the answer is 428, and with the ETag of another version 412. Unknown members and fields are
        refused: they could be constraints. Try the document first: `/validate`, `/analyze`, `/simulate` and
        `/replay`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"3"`, or `*` for any.
        """
        return await self._json(
            "PUT",
            "/v1/policy",
            models.Policy,
            headers={"If-Match": if_match},
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def validate(
        self,
        *,
        document: Mapping[str, Any],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.PolicyValidation:
        """Check whether a document would be accepted, with every finding.

        Checks whether PUT would accept the document. Pointers begin at the document. `findings` names deny rules of
        a valid document that a missing field turns off; such rules are accepted.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            document: Document as for PUT /v1/policy. Pointers of errors and findings begin at the document.
        """
        return await self._json(
            "POST",
            "/v1/policy/validate",
            models.PolicyValidation,
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncSchedulesCyclesMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.DueScheduleCycle, models.DueScheduleCycleList]:
        """List the cycles of all schedules that begin in a period.

        Shows which payments are due, and which were made or missed, by schedule, the newest first, and within it by
        time. For cycles in the future it assumes that each earlier cycle is executed. A page reads 200 schedules:
        it may have few cycles, or none, and still a next page.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            from_: Start, inclusive; a week before today (UTC) when absent, at most 31 days before `to`.
            to: End, exclusive; two weeks after `from` when absent.
        """
        return self._pages(
            "GET",
            "/v1/schedules/cycles",
            models.DueScheduleCycleList,
            query=given({"limit": limit, "cursor": cursor, "from": from_, "to": to}),
            timeout=timeout,
        )


class AsyncSchedulesMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.cycles = AsyncSchedulesCyclesMethods(transport)

    async def cancel(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Schedule:
        """Cancel a standing schedule permanently, from the next decision on.

        From the commit on, a verification answers `schedule_occurrences_exhausted`. The cancellation is permanent.
        A schedule that is cancelled stays as it is.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/schedules/{}/cancel", schedule_id),
            models.Schedule,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        *,
        counterparty: str,
        amount: params.RequestedScheduleAmountParam,
        frequency: str,
        anchor_at: str,
        timezone: str,
        occurrences: int,
        window_seconds: int | None = None,
        consume_missed: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Schedule:
        """Set up a standing schedule.

        A schedule says what an agent may pay to one counterparty, once in each cycle. Cycles begin at `anchor_at`
        and continue by `frequency` at the same time of day in `timezone`. Tokens name the schedule by
        `schedule_id`. It needs `escalate`.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.

        Args:
            counterparty: Compared exactly with the counterparty of an action.
            frequency: One of `daily`, `weekly`, `monthly`, `quarterly` and `yearly`, or a recurrence rule of RFC
                5545.
            anchor_at: The first occurrence: its date and time of day in `timezone`.
            timezone: A zone of the IANA database, such as Europe/Berlin.
            window_seconds: Seconds after its beginning during which a cycle can be executed; at most until the next
                cycle begins. Default: `86400`.
            occurrences: How many cycles can be executed.
            consume_missed: Whether a cycle that was not executed counts as one of the occurrences. Default:
                `false`.
        """
        return await self._json(
            "POST",
            "/v1/schedules",
            models.Schedule,
            body=given(
                {
                    "counterparty": counterparty,
                    "amount": amount,
                    "frequency": frequency,
                    "anchor_at": anchor_at,
                    "timezone": timezone,
                    "window_seconds": window_seconds,
                    "occurrences": occurrences,
                    "consume_missed": consume_missed,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.ScheduleStatus | Sequence[literals.ScheduleStatus] | None = None,
        counterparty: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Schedule, models.ScheduleList]:
        """List standing schedules, newest first.

        A schedule must match all filters, and any of the given values of `status`. `exhausted` schedules have used
        all their occurrences.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            counterparty: Exact name of the counterparty.
        """
        return self._pages(
            "GET",
            "/v1/schedules",
            models.ScheduleList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "counterparty": counterparty,
                }
            ),
            timeout=timeout,
        )

    async def pause(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Schedule:
        """Pause a standing schedule, from the next decision on.

        From the commit on, a verification answers `schedule_window_missed`. Cycles continue meanwhile. A schedule
        that is paused stays as it is; a cancelled schedule is 409 `invalid_state_transition`.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/schedules/{}/pause", schedule_id),
            models.Schedule,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def preview(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> models.SchedulePreview:
        """Preview the next 24 cycles of a standing schedule.

        Lists the cycles that can be executed, from the current one on, and assumes that each is executed. The
        calendar shows month ends and changes of clocks before anything is paid. A paused schedule is shown as if it
        were resumed now; a cancelled schedule has no cycles.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/schedules/{}/preview", schedule_id),
            models.SchedulePreview,
            timeout=timeout,
        )

    async def resume(
        self,
        schedule_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Schedule:
        """Resume a standing schedule that is paused.

        It needs `escalate`. A schedule that is not paused is 409 `invalid_state_transition`.

        Scope `escalate`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/schedules/{}/resume", schedule_id),
            models.Schedule,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        schedule_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Schedule:
        """Read one standing schedule, with its current and next cycle.

        The current and the next cycle are computed at the time of the answer.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/schedules/{}", schedule_id),
            models.Schedule,
            timeout=timeout,
        )


class AsyncScreeningsBatchesMethods(AsyncGroup):
    async def create(
        self,
        items: AsyncItems[params.ScreeningLineParam],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.SubmittedScreeningBatch:
        """Screen up to 10,000 uploaded images, one JSON value per line or one array.

        A wrong line does not affect the others: `rejected` says why. Single screenings run before those of a batch.
        List the screenings of the batch with `GET /v1/media/screenings?screening_batch_id=..`.

        Scope `screen`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._batch(
            "POST",
            "/v1/media/screenings/batches",
            items,
            models.SubmittedScreeningBatch,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ScreeningBatch, models.ScreeningBatchList]:
        """List batches of screenings with their progress, newest first.

        The refused lines of a batch are a list of their own.

        Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/media/screenings/batches",
            models.ScreeningBatchList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                }
            ),
            timeout=timeout,
        )

    def list_rejected(
        self,
        batch_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.RejectedLine, models.RejectedLineList]:
        """List the refused lines of a batch of screenings, in the order of the input.

        Each line has the reasons of its refusal. Accepted lines are in `GET
        /v1/media/screenings?screening_batch_id=..`.

        Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/media/screenings/batches/{}/rejected", batch_id),
            models.RejectedLineList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        batch_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.ScreeningBatch:
        """Read the progress of a batch of screenings.

        `wait` keeps the request open until every accepted line has ended, for that many seconds at most.

        Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/media/screenings/batches/{}", batch_id),
            models.ScreeningBatch,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncScreeningsSettingsMethods(AsyncGroup):
    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.ScreeningSettings:
        """Read the scores at which a review is recommended or a factor is raised, with their version as ETag.

        Each of the two models has two thresholds: a score of at least `review` recommends a review, and a score of
        at least `likely` raises an advisory factor. `version` 0 is the defaults. To change the thresholds, change
        `document` and send it back, with the ETag as `If-Match`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/account/screening",
            models.ScreeningSettings,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        if_match: str,
        document: params.ScreeningSettingsDocumentParam | models.ScreeningSettingsDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ScreeningSettings:
        """Set the scores at which a review is recommended or a factor is raised.

        The thresholds apply to screenings that end later; ended screenings keep their result. The same document
        again changes nothing. Without `If-Match` the answer is 428, and with the ETag of another version 412.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"2"`, or `*` for any.
        """
        return await self._json(
            "PUT",
            "/v1/account/screening",
            models.ScreeningSettings,
            headers={"If-Match": if_match},
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncScreeningsMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.batches = AsyncScreeningsBatchesMethods(transport)
        self.settings = AsyncScreeningsSettingsMethods(transport)

    async def create(
        self,
        *,
        media: params.MediaReferenceParam | params.InlineMediaParam | params.MediaAddressParam,
        wait: int | None = None,
        claim_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Screening:
        """Ask the detector of synthetic media about one image and wait for its scores.

        Waits up to `Prefer: wait=N` seconds (10 when absent, at most 30): 200 with the scores, or 202 and
        `Location`. Only images are screened; a video fails with `video`. Without a detector the screening fails
        with `no_detector`; a score is never invented. Scores are advisory: they never count toward a risk score.
        The same bytes are scored once per detector, each time with the current thresholds. An address as media is
        refused: upload the bytes.

        Scope `screen`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            wait: `wait=N`: seconds to wait for the scores, 0 to 30; 10 when absent (RFC 7240). Preference-Applied
                in the answer says what was applied.
            claim_id: A claim that gets the advisory codes of this screening.
        """
        return await self._json(
            "POST",
            "/v1/media/screen",
            models.Screening,
            body=given({"claim_id": claim_id, "media": media}),
            prefer_wait=wait,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        claim_id: str | None = None,
        media_id: str | None = None,
        screening_batch_id: str | None = None,
        status: literals.WorkStatus | Sequence[literals.WorkStatus] | None = None,
        factor: literals.ScreeningCode | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Screening, models.ScreeningList]:
        """List screenings, newest first.

        Filters by claim, media, batch, status, factor or time.

        Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/media/screenings",
            models.ScreeningList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "claim_id": claim_id,
                    "media_id": media_id,
                    "screening_batch_id": screening_batch_id,
                    "status": status,
                    "factor": factor,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        screening_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.Screening:
        """Read one screening.

        `wait` keeps the request open until the screening has ended, for that many seconds at most; `status` says
        whether it has ended.

        Scope `screen`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/media/screenings/{}", screening_id),
            models.Screening,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncTraceDiffsMethods(AsyncGroup):
    async def cancel(
        self,
        diff_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TraceDiff:
        """Cancel a diff that has not ended.

        A running diff stops within seconds. No event is sent. A cancelled diff stays as it is; a diff that has
        succeeded or failed is 409 `invalid_state_transition`.

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/trace/diffs/{}/cancel", diff_id),
            models.TraceDiff,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        *,
        base_model: str,
        target_model: str,
        eval_set: str | None = None,
        thresholds: params.DiffThresholdsRequestParam | None = None,
        seed: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TraceDiff:
        """Compare two model versions over an evaluation set.

        Both models answer every prompt of the set, and the canary readings of their answers are compared. See
        [comparing model versions](https://api.example.test/docs/trace/diffs).

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            base_model: The known version.
            target_model: The version to judge.
            eval_set: `default`, or the id of a set.
            seed: Seed of the bootstrap. When absent, a random seed is used and shown.
        """
        return await self._json(
            "POST",
            "/v1/trace/diffs",
            models.TraceDiff,
            body=given(
                {
                    "base_model": base_model,
                    "target_model": target_model,
                    "eval_set": eval_set,
                    "thresholds": thresholds,
                    "seed": seed,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.WorkStatus | Sequence[literals.WorkStatus] | None = None,
        verdict: literals.DiffVerdict | Sequence[literals.DiffVerdict] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.TraceDiff, models.TraceDiffList]:
        """List diffs, newest first.

        The list has the verdicts; the figures are in the reports.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/trace/diffs",
            models.TraceDiffList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "verdict": verdict,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        diff_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.TraceDiff:
        """Read the status, progress and verdict of one diff.

        `verdict` is set when `status` is `succeeded`. `wait` waits for the end of the diff.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/trace/diffs/{}", diff_id),
            models.TraceDiff,
            query=given({"wait": wait}),
            timeout=timeout,
        )

    async def retrieve_report(
        self,
        diff_id: str,
        *,
        timeout: float | None = None,
    ) -> models.TraceDiffReport:
        """Read the report of a diff that has succeeded.

        The report has no time and no id: the same models, prompts, thresholds and seed give the same report and
        hash. `bins` is the histogram from which `psi` is computed. See [comparing model
        versions](https://api.example.test/docs/trace/diffs).

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/diffs/{}/report", diff_id),
            models.TraceDiffReport,
            timeout=timeout,
        )


class AsyncTraceDisclosuresMethods(AsyncGroup):
    async def deny(
        self,
        request_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DisclosureRequest:
        """Deny a request that is pending.

        The person is not told.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/trace/disclosure-requests/{}/deny", request_id),
            models.DisclosureRequest,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def grant(
        self,
        request_id: str,
        *,
        expires_in: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DisclosureRequest:
        """Let the person see the masked neurons, for a time.

        The person is mailed a link of their own, which shows `masked_node_ids` until `expires_at`, and at most
        until the share expires. A grant shows all neurons that its share masks: a part would reveal the rest.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            expires_in: Default: `86400`.
        """
        return await self._json(
            "POST",
            path("/v1/trace/disclosure-requests/{}/grant", request_id),
            models.DisclosureRequest,
            body=given({"expires_in": expires_in}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        status: literals.DisclosureStatus | Sequence[literals.DisclosureStatus] | None = None,
        share_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.DisclosureRequest, models.DisclosureRequestList]:
        """List requests to see masked neurons.

        Requests of people whose address is verified, newest first; `status=unverified` lists the others.
        `status=pending&order=asc` lists the waiting requests, the oldest first.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
        """
        return self._pages(
            "GET",
            "/v1/trace/disclosure-requests",
            models.DisclosureRequestList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "status": status,
                    "share_id": share_id,
                }
            ),
            timeout=timeout,
        )

    async def request(
        self,
        share_id: str,
        *,
        email: str,
        purpose: str,
        share_token: str | None = None,
        timeout: float | None = None,
    ) -> models.AskedDisclosure:
        """Ask to see the neurons that a share masks; a code is mailed.

        Mails a code of 8 digits, which works for 15 minutes. The account learns of the request when the code is
        entered. An address may send three requests an hour for a share. `Idempotency-Key` is ignored.

        No key is needed. The token of the share is the credential.

        Args:
            share_token: The token of the share.
            email: Address; a code is mailed to it.
            purpose: Purpose, for the people who decide: at least 10 visible characters.
        """
        return await self._json(
            "POST",
            path("/v1/trace/shares/{}/disclosure-requests", share_id),
            models.AskedDisclosure,
            headers={"Share-Token": share_token},
            body=given({"email": email, "purpose": purpose}),
            is_repeatable=False,
            timeout=timeout,
        )

    async def retrieve(
        self,
        request_id: str,
        *,
        timeout: float | None = None,
    ) -> models.DisclosureRequest:
        """Read one request to see masked neurons.

        Whether a grant has expired follows from the time of this request.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/disclosure-requests/{}", request_id),
            models.DisclosureRequest,
            timeout=timeout,
        )

    async def revoke(
        self,
        request_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DisclosureRequest:
        """End a grant, from the next view on.

        Ends a grant; a pending request is denied.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer. A rate limit of its own, for
        emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/trace/disclosure-requests/{}/revoke", request_id),
            models.DisclosureRequest,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def verify(
        self,
        share_id: str,
        request_id: str,
        *,
        code: str,
        share_token: str | None = None,
        timeout: float | None = None,
    ) -> models.AskedDisclosure:
        """Verify the address of a request by the mailed code.

        A code has five tries. A code that does not work is `invalid_request` at `/code`, whatever the reason. With
        the mode `auto` the request is granted at once, and the link is mailed. `Idempotency-Key` is ignored: a code
        works once.

        No key is needed. The token of the share is the credential.

        Args:
            share_token: The token of the share.
        """
        return await self._json(
            "POST",
            path("/v1/trace/shares/{}/disclosure-requests/{}/verify", share_id, request_id),
            models.AskedDisclosure,
            headers={"Share-Token": share_token},
            body=given({"code": code}),
            is_repeatable=False,
            timeout=timeout,
        )


class AsyncTraceEvalSetsMethods(AsyncGroup):
    async def create(
        self,
        *,
        name: str,
        prompts: Sequence[params.EvalPromptParam],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.EvalSet:
        """Store prompts to compare models with.

        A set has up to 2,000 conversations, each ending where the assistant would answer. They are stored sealed,
        and not shown again.

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            "/v1/trace/eval-sets",
            models.EvalSet,
            body=given({"name": name, "prompts": prompts}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def delete(
        self,
        eval_set_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeletedEvalSet:
        """Delete an evaluation set. Unfinished diffs of it fail.

        Reports of it stay.

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/trace/eval-sets/{}", eval_set_id),
            models.DeletedEvalSet,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.EvalSet, models.EvalSetList]:
        """List the evaluation sets of the account, newest first.

        The answer does not contain the prompts.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            "/v1/trace/eval-sets",
            models.EvalSetList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        eval_set_id: str,
        *,
        timeout: float | None = None,
    ) -> models.EvalSet:
        """Read one evaluation set, without its prompts.

        The hash identifies the prompts.

        Scope `intent`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/eval-sets/{}", eval_set_id),
            models.EvalSet,
            timeout=timeout,
        )


class AsyncTraceGraphsMethods(AsyncGroup):
    async def create(
        self,
        model_version_id: str,
        *,
        prompt: str,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ExternalGraph:
        """Have another service make an attribution graph, and return it unchanged.

        For models at Neuronpedia. It makes the graph of a replacement model with features of its own, and keeps the
        prompt, where others can see it. See [models elsewhere](https://api.example.test/docs/trace/backends).

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/trace/models/{}/graphs", model_version_id),
            models.ExternalGraph,
            body=given({"prompt": prompt}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncTraceInferencesMethods(AsyncGroup):
    async def create(
        self,
        *,
        model: str | None = None,
        prompt: str | None = None,
        messages: Sequence[params.ChatMessageParam] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        seed: int | None = None,
        canary_set: str | None = None,
        agent_id: str | None = None,
        agent_session_id: str | None = None,
        kill_switch: Literal["inherit"] | None = None,
        retain: literals.TextRetention | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Inference:
        """Run a model, and read its canaries.

        Under `block` and `block_and_lock` no token leaves the process of the model before its canaries were read,
        and no token leaves it when a family trips: `completion` is null, and the generated tokens count. Under
        `monitor` the answer has the completion and the families that tripped. A locked session and a suspended
        agent run no model. A repeat with the same Idempotency-Key has the model complete the same request again and
        records nothing. It returns the completion where the hash is the same and neither a lock nor the current
        kill switch refuses it. When the client goes away, the model stops and nothing is stored.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            model: Id of GET /v1/trace/models; the default model when absent.
            prompt: Message of a user; for a model that takes no conversations, a text that it continues.
            messages: A conversation, in place of `prompt`.
            max_tokens: Default: `64`.
            temperature: 0 always takes the most likely token. Default: `0`.
            seed: Seed of the sampling; random when absent.
            canary_set: Requires readings by this set of probes. When absent, readings are taken where the model has
                probes.
            agent_session_id: An id of this service, or a name of your own.
            kill_switch: The account’s kill switch applies, and no request can weaken it. Default: `inherit`.
            retain: text: prompt and completion are kept for 30 days, and no longer than the trace, sealed. Default:
                `hash`.
        """
        return await self._json(
            "POST",
            "/v1/trace/inferences",
            models.Inference,
            body=given(
                {
                    "model": model,
                    "prompt": prompt,
                    "messages": messages,
                    "max_tokens": max_tokens,
                    "temperature": temperature,
                    "seed": seed,
                    "canary_set": canary_set,
                    "agent_id": agent_id,
                    "agent_session_id": agent_session_id,
                    "kill_switch": kill_switch,
                    "retain": retain,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncTraceInterventionsMethods(AsyncGroup):
    async def create(
        self,
        trace_id: str,
        *,
        edits: Sequence[params.NeuronEditParam],
        target: params.InterventionTargetParam | None = None,
        top_tokens: int | None = None,
        input: params.RepeatedPromptParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Intervention:
        """Ablate or scale neurons of a trace, and compare the prediction with what happens.

        The model reads the trace again with the activations of some neurons multiplied by factors, all at once. The
        answer has each change of a logit beside the change that the frozen model predicts. Nothing is recorded; the
        request counts as an `inference`. A repeat with the same Idempotency-Key has the model measure again, and
        does not count.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            target: The position whose logits are compared. Default: `{"position":0}`.
            top_tokens: Number of the likeliest tokens to compare, before and after. Default: `5`.
            input: Input of the inference: required where the trace keeps only hashes, and always compared with
                `prompt_hash`.
        """
        return await self._json(
            "POST",
            path("/v1/trace/traces/{}/interventions", trace_id),
            models.Intervention,
            body=given(
                {
                    "edits": edits,
                    "target": target,
                    "top_tokens": top_tokens,
                    "input": input,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncTraceJobsMethods(AsyncGroup):
    async def cancel(
        self,
        job_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AttributionJob:
        """Cancel an attribution job.

        No event is sent. A cancelled job stays as it is; a job that has succeeded or failed is 409
        `invalid_state_transition`.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/trace/jobs/{}/cancel", job_id),
            models.AttributionJob,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def create(
        self,
        *,
        trace_id: str,
        target: params.AttributionTargetParam | None = None,
        method: literals.AttributionMethod | None = None,
        max_feature_nodes: int | None = None,
        max_n_logits: int | None = None,
        desired_logit_prob: float | None = None,
        node_threshold: float | None = None,
        edge_threshold: float | None = None,
        input: params.RepeatedPromptParam | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.AttributionJob:
        """Start an attribution job, which explains why a model said a token.

        Explains one token of a completion. A trace that keeps hashes alone needs its `input` again, which is
        compared with `prompt_hash`; the model completes it again, which is compared with `completion_hash`. What a
        withheld completion says is never explained. A method that the model has not is refused, and `errors` names
        those that it has. Counts when it succeeds. See
        [attribution](https://api.example.test/docs/trace/attribution).

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            target: Default: `{"position":0}`.
            method: `exact` when absent; `grad_x_act` and `ablation` are approximate.
            max_feature_nodes: Default: `512`.
            max_n_logits: Default: `10`.
            desired_logit_prob: Logits are explained until their tokens together have this probability. Default:
                `0.95`.
            node_threshold: The share of the influence that the kept nodes have. Default: `0.8`.
            edge_threshold: Default: `0.98`.
            input: Input of the inference: required where the trace keeps only hashes, and always compared with
                `prompt_hash`.
        """
        return await self._json(
            "POST",
            "/v1/trace/jobs",
            models.AttributionJob,
            body=given(
                {
                    "trace_id": trace_id,
                    "target": target,
                    "method": method,
                    "max_feature_nodes": max_feature_nodes,
                    "max_n_logits": max_n_logits,
                    "desired_logit_prob": desired_logit_prob,
                    "node_threshold": node_threshold,
                    "edge_threshold": edge_threshold,
                    "input": input,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        trace_id: str | None = None,
        status: literals.WorkStatus | Sequence[literals.WorkStatus] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.AttributionJob, models.AttributionJobList]:
        """List attribution jobs, newest first.

        `trace_id` lists the jobs of one trace; a value that is no id of a trace is `not_found`.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            trace_id: `trc_test_` or `trc_live_` and 26 characters.
        """
        return self._pages(
            "GET",
            "/v1/trace/jobs",
            models.AttributionJobList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "trace_id": trace_id,
                    "status": status,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        job_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.AttributionJob:
        """Read the status and progress of an attribution job.

        `failed` and `cancelled` jobs have no manifest; `failure.code` says why. `wait` waits for the end of the
        job.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/trace/jobs/{}", job_id),
            models.AttributionJob,
            query=given({"wait": wait}),
            timeout=timeout,
        )

    async def retrieve_manifest(
        self,
        job_id: str,
        *,
        compat: Literal["circuit-tracer"] | None = None,
        timeout: float | None = None,
    ) -> models.AttributionManifest:
        """Download the graph, in the schema of Neuronpedia and circuit-tracer.

        The answer is `not_ready` until the job has succeeded. Like texts, the manifest is kept for 30 days and no
        longer than its trace, because it contains the prompt. The SHA-256 of the body is `manifest_hash`, unless
        `compat` is asked for.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            compat: Names neurons by the word that circuit-tracer’s scores count.
        """
        return await self._json(
            "GET",
            path("/v1/trace/jobs/{}/manifest", job_id),
            models.AttributionManifest,
            query=given({"compat": compat}),
            timeout=timeout,
        )


class AsyncTraceKillSwitchMethods(AsyncGroup):
    async def preview(
        self,
        *,
        document: params.KillSwitchDocumentParam | models.KillSwitchDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.KillSwitchPreview:
        """Preview what a kill switch would have done in the last 7 days.

        Send a draft document: the checks and the inferences of the last 7 days are re-evaluated by it. Nothing is
        changed. At most 5,000 checks and 5,000 inferences are judged, the newest. Verifications are left out: a
        condition of a policy refuses whatever the mode.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "POST",
            "/v1/trace/kill-switch/preview",
            models.KillSwitchPreview,
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        *,
        timeout: float | None = None,
    ) -> models.KillSwitch:
        """Read the kill switch, which says what a canary trip does, with its version as ETag.

        Each environment of an account has its own kill switch. The default is `monitor`: readings are judged, and
        no request is refused. To change it, change `document` and send it back, with the ETag as `If-Match`.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, approver, analyst; in sandbox also
        developer.
        """
        return await self._json(
            "GET",
            "/v1/trace/kill-switch",
            models.KillSwitch,
            timeout=timeout,
        )

    async def update(
        self,
        *,
        if_match: str,
        document: params.KillSwitchDocumentParam | models.KillSwitchDocument,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.KillSwitch:
        """Replace the kill switch, from the next check on.

        Replaces the whole document: members that are absent get their defaults; the same document again changes
        nothing. Without `If-Match` the answer is 428, and with the ETag of another version 412; in an emergency `*`
        replaces any version. A change of the mode clears no lock. Other requests do not count against the rate
        limit of this one.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer. A rate
        limit of its own, for emergencies.

        Args:
            if_match: Required. The ETag of the version to replace, such as `"2"`, or `*` for any.
        """
        return await self._json(
            "PUT",
            "/v1/trace/kill-switch",
            models.KillSwitch,
            headers={"If-Match": if_match},
            body=given({"document": document}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncTraceLocksMethods(AsyncGroup):
    async def clear(
        self,
        lock_id: str,
        *,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.ClearedLock:
        """Clear a session lock after a review.

        A person decides that the session may go on. `agent_unsuspended` is false where the lock suspended no agent,
        and where the agent stays suspended by another lock or manually. A lock is cleared once: a second request is
        409. The decision ledger has the note.

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/trace/session-locks/{}/clear", lock_id),
            models.ClearedLock,
            body=given({"note": note}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        order: literals.ListOrder | None = None,
        status: literals.SessionLockStatus | Sequence[literals.SessionLockStatus] | None = None,
        agent_id: str | None = None,
        agent_session_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.SessionLock, models.SessionLockList]:
        """List session locks.

        Lists sessions and agents that canary trips locked under `block_and_lock`. `status=locked` lists the locks
        that wait for a review, with `order=asc` the oldest first. An agent session has one live lock at most; an
        agent may be held by the locks of several sessions.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            order: `desc` (newest first) when absent.
        """
        return self._pages(
            "GET",
            "/v1/trace/session-locks",
            models.SessionLockList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "order": order,
                    "status": status,
                    "agent_id": agent_id,
                    "agent_session_id": agent_session_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        lock_id: str,
        *,
        timeout: float | None = None,
    ) -> models.SessionLock:
        """Read one session lock.

        `trace_id` leads to the readings that tripped.

        Scope `escalate`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/session-locks/{}", lock_id),
            models.SessionLock,
            timeout=timeout,
        )


class AsyncTraceModelsMethods(AsyncGroup):
    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> AsyncPages[models.Model, models.ModelList]:
        """List the models of this installation.

        Lists the models that a request can name as `model`. `usable` is false for a file that can not be loaded.
        All models are on one page.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return self._pages(
            "GET",
            "/v1/trace/models",
            models.ModelList,
            timeout=timeout,
        )

    async def retrieve(
        self,
        model_version_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Model:
        """Read one model: its capabilities, its version and its canary probes.

        `model_version_id` names the exact file that ran: the model and the beginning of the SHA-256 of its file.
        The card of a probe has its measurements on transcripts that it was not trained on (`held_out`: completions
        that a script wrote), and how often it trips on benign completions of the model itself (`generated`).

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/models/{}", model_version_id),
            models.Model,
            timeout=timeout,
        )


class AsyncTraceSharesMethods(AsyncGroup):
    async def create(
        self,
        *,
        trace_id: str,
        expires_at: str,
        name: str | None = None,
        job_id: str | None = None,
        scope_kind: literals.ShareScope | None = None,
        masked_node_ids: Sequence[str] | None = None,
        mask_rule: params.WantedMaskRuleParam | None = None,
        reveal: Sequence[literals.RevealedPlace] | None = None,
        reveals_prompt: bool | None = None,
        disclosure_mode: literals.DisclosureMode | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CreatedTraceShare:
        """Share a trace. The token is in this answer only.

        Shows the canary readings of a trace, and with `job_id` the graph of its attribution job, to everybody who
        has the token. Neurons are masked by `masked_node_ids` and `mask_rule`; [what masking
        hides](https://api.example.test/docs/trace/shares) says how. A share masks at least what every share of the
        trace masks, and from now on the others mask what this one does. `shown_before` counts what was seen before
        that. Without `reveals_prompt` a graph shows the last position of the text, and all before it as one node
        for each message; a text of fewer than 16 tokens of content is 400. With it, somebody with the file of the
        model finds the prompt, and by it every masked neuron. 409 where another share of the trace shows another
        job, for the mode `auto` where a grant would show what a manual share masks, and for `reveals_prompt` where
        another share masks neurons without it: `errors` names the member.

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            name: Name for people of the account.
            job_id: Shares the graph of this attribution job of the trace.
            scope_kind: model_version: the neurons are masked in every share of the model version. Default: `trace`.
            masked_node_ids: Default: `[]`.
            mask_rule: Masks neurons that any member of the rule selects, beside `masked_node_ids`.
            reveal: Facts about the place of a masked neuron that are shown. Default: `[]`.
            reveals_prompt: Shows single positions of the text too. A person who has the file of the model can find
                the prompt from them. Default: `false`.
            disclosure_mode: auto: everybody who verifies an address sees the masked neurons, for a day. Default:
                `manual`.
        """
        return await self._json(
            "POST",
            "/v1/trace/shares",
            models.CreatedTraceShare,
            body=given(
                {
                    "name": name,
                    "trace_id": trace_id,
                    "job_id": job_id,
                    "scope_kind": scope_kind,
                    "masked_node_ids": masked_node_ids,
                    "mask_rule": mask_rule,
                    "reveal": reveal,
                    "reveals_prompt": reveals_prompt,
                    "expires_at": expires_at,
                    "disclosure_mode": disclosure_mode,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.ShareStatus | Sequence[literals.ShareStatus] | None = None,
        trace_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.TraceShare, models.TraceShareList]:
        """List shares, newest first.

        `status=active` lists the shares that can be viewed.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            "/v1/trace/shares",
            models.TraceShareList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "trace_id": trace_id,
                }
            ),
            timeout=timeout,
        )

    def list_views(
        self,
        share_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.ShareView, models.ShareViewList]:
        """List the views of a share, newest first.

        Every view is one entry. Addresses are truncated before they are stored.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            path("/v1/trace/shares/{}/views", share_id),
            models.ShareViewList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "request_id": request_id,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        share_id: str,
        *,
        timeout: float | None = None,
    ) -> models.TraceShare:
        """Read one share, without its token.

        A share that has ended still masks in the others: a viewer may have kept its graph.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/shares/{}", share_id),
            models.TraceShare,
            timeout=timeout,
        )

    async def revoke(
        self,
        share_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TraceShare:
        """End a share and every grant of it, from the next view on.

        A share that has ended stays as it is. Pending requests end too.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer. A rate limit of its own, for emergencies.
        """
        return await self._json(
            "POST",
            path("/v1/trace/shares/{}/revoke", share_id),
            models.TraceShare,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        share_id: str,
        *,
        name: str | None | NotGiven = NOT_GIVEN,
        expires_at: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.TraceShare:
        """Rename a share, or change its end.

        The token stays the same. Pending requests wait until the new end, and a grant ends with the share at the
        latest. A share that has expired or was revoked keeps its end and can only be renamed: a new end is 409. The
        audit log records the change (`share.changed`).

        Scope `intent`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            name: Name of the share; null removes it.
            expires_at: End of the share; only an active share can change it.
        """
        return await self._json(
            "PATCH",
            path("/v1/trace/shares/{}", share_id),
            models.TraceShare,
            body=given({"name": name, "expires_at": expires_at}, "name"),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def view(
        self,
        *,
        share_token: str | None = None,
        timeout: float | None = None,
    ) -> models.SharedView:
        """View a share, with its token or the token of a grant.

        Takes the token of the share, or the token of a grant, which shows the neurons that the share masked when
        the grant was made. `reveals_prompt` says whether the graph has single positions. Each view is recorded.
        Every token that shows nothing is 404, whatever the reason.

        No key is needed. The token of the share is the credential.

        Args:
            share_token: The token of the share or of a grant.
        """
        return await self._json(
            "GET",
            "/v1/trace/shares/view",
            models.SharedView,
            headers={"Share-Token": share_token},
            timeout=timeout,
        )


class AsyncTraceTextsMethods(AsyncGroup):
    async def delete(
        self,
        trace_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Trace:
        """Erase the texts of a trace permanently; hashes and readings stay.

        The erasure is immediate and permanent. It deletes the texts that `retain` kept, and the manifests of all
        attribution jobs of the trace, which contain the prompt. Jobs that have not ended are cancelled, and shares
        show the readings only. Hashes, readings and the entries of the decision ledger stay. The answer is the
        trace, with `text_until` null. The audit log records it (`trace_texts.erased`). A repeat changes nothing.

        Scope `admin`. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/trace/traces/{}/texts", trace_id),
            models.Trace,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        trace_id: str,
        *,
        timeout: float | None = None,
    ) -> models.TraceTexts:
        """Read the texts of a trace, where they are kept.

        Use this to review a lock. Only inferences with `retain: "text"` keep their texts; for other traces the
        answer is `text_not_kept`. A withheld completion is never stored. Each read is in the audit log
        (`trace_texts.read`).

        Scope `escalate`. Sessions: owner, admin, approver; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/traces/{}/texts", trace_id),
            models.TraceTexts,
            timeout=timeout,
        )


class AsyncTraceTokensMethods(AsyncGroup):
    def list(
        self,
        trace_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        lens: int | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.TracedToken, models.TracedTokenList]:
        """List the tokens of a completion, in their order.

        Texts, token ids and `lens` need an inference with `retain: "text"`; `lens` needs the model version that ran
        it. A withheld completion has no tokens. A window is read every 4 tokens and at the end.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            lens: Number of tokens to show of each layer. Needs retained text, and a limit of at most 20.
        """
        return self._pages(
            "GET",
            path("/v1/trace/traces/{}/tokens", trace_id),
            models.TracedTokenList,
            query=given({"limit": limit, "cursor": cursor, "lens": lens}),
            timeout=timeout,
        )


class AsyncTraceTracesMethods(AsyncGroup):
    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        source: literals.TraceSource | None = None,
        agent_id: str | None = None,
        agent_session_id: str | None = None,
        model: str | None = None,
        finish_reason: literals.FinishReason | Sequence[literals.FinishReason] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Trace, models.TraceList]:
        """List traces, newest first.

        Readings are kept as long as the decision ledger, by plan.

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            model: Inferences of this model.
        """
        return self._pages(
            "GET",
            "/v1/trace/traces",
            models.TraceList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "source": source,
                    "agent_id": agent_id,
                    "agent_session_id": agent_session_id,
                    "model": model,
                    "finish_reason": finish_reason,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        trace_id: str,
        *,
        timeout: float | None = None,
    ) -> models.Trace:
        """Read one trace with its canary readings.

        `canary.hash` covers the readings, their time, their set, the model version, the runtime and the id of the
        trace. Everything that it covers is in the answer: see
        [canaries](https://api.example.test/docs/trace/canaries#the-hash-of-a-reading).

        Scope `intent`. Sessions: owner, admin, approver, analyst; in sandbox also developer.
        """
        return await self._json(
            "GET",
            path("/v1/trace/traces/{}", trace_id),
            models.Trace,
            timeout=timeout,
        )


class AsyncTraceMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.diffs = AsyncTraceDiffsMethods(transport)
        self.disclosures = AsyncTraceDisclosuresMethods(transport)
        self.eval_sets = AsyncTraceEvalSetsMethods(transport)
        self.graphs = AsyncTraceGraphsMethods(transport)
        self.inferences = AsyncTraceInferencesMethods(transport)
        self.interventions = AsyncTraceInterventionsMethods(transport)
        self.jobs = AsyncTraceJobsMethods(transport)
        self.kill_switch = AsyncTraceKillSwitchMethods(transport)
        self.locks = AsyncTraceLocksMethods(transport)
        self.models = AsyncTraceModelsMethods(transport)
        self.shares = AsyncTraceSharesMethods(transport)
        self.texts = AsyncTraceTextsMethods(transport)
        self.tokens = AsyncTraceTokensMethods(transport)
        self.traces = AsyncTraceTracesMethods(transport)

    async def check(
        self,
        *,
        trace_id: str | None = None,
        readings: Sequence[params.ClientCanaryReadingParam] | None = None,
        reading_at: str | None = None,
        canary_set: str | None = None,
        inference_input: params.ReadTextParam | None = None,
        agent_id: str | None = None,
        agent_session_id: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CanaryCheck:
        """Check whether an agent may continue, by its canary readings.

        Send stored readings (`trace_id`), readings of a model of your own (`readings`, `reading_at`, `canary_set`),
        or `inference_input`: a model of the service completes it within 5 seconds, and its readings are stored as a
        trace of source `server`. The completion is not stored. The kill switch names the model and how far it reads
        (`reading`). The newest trip of the session or its agent refuses for `max_age_s`, whatever readings you
        send. Continue only when `allowed` is true. Readings that you send are a trace of source `client`: they can
        refuse and lock, and satisfy no condition of a policy. Each check is an entry of the decision ledger. A
        repeat with the same Idempotency-Key judges the same readings anew and records nothing.

        Scope `intent`. Sessions: owner, admin; in sandbox also developer.

        Args:
            trace_id: Trace whose stored readings are checked.
            readings: Readings of a model of your own, with `reading_at` and `canary_set`.
            canary_set: Set of probes that made the readings.
            inference_input: Input that a model of the service reads within 5 seconds. Otherwise the answer is
                `canary_unavailable`.
            agent_session_id: An id of this service, or a name of your own.
        """
        return await self._json(
            "POST",
            "/v1/trace/check",
            models.CanaryCheck,
            body=given(
                {
                    "trace_id": trace_id,
                    "readings": readings,
                    "reading_at": reading_at,
                    "canary_set": canary_set,
                    "inference_input": inference_input,
                    "agent_id": agent_id,
                    "agent_session_id": agent_session_id,
                }
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncWebhooksDeliveriesMethods(AsyncGroup):
    def export(
        self,
        *,
        status: literals.DeliveryStatus | Sequence[literals.DeliveryStatus] | None = None,
        event_type: literals.EventType | Sequence[literals.EventType] | None = None,
        webhook_endpoint_id: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        timeout: float | None = None,
    ) -> AsyncLines[models.DeliveryLine]:
        """Export deliveries with the headers and answers of their attempts as NDJSON, oldest first.

        The export has one line per delivery, with all of its attempts. It leaves out deliveries that are created
        after the request. The export is recorded in the audit log before it begins.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            webhook_endpoint_id: Deliveries to this endpoint only.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._lines(
            "GET",
            "/v1/webhook-deliveries/export",
            models.DeliveryLine,
            query=given(
                {
                    "status": status,
                    "event_type": event_type,
                    "webhook_endpoint_id": webhook_endpoint_id,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                }
            ),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.DeliveryStatus | Sequence[literals.DeliveryStatus] | None = None,
        event_type: literals.EventType | Sequence[literals.EventType] | None = None,
        webhook_endpoint_id: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Delivery, models.DeliveryList]:
        """List the deliveries to all endpoints with every attempt, newest first.

        Same as the list of one endpoint. `status=failed` lists the deliveries whose attempts are spent.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            webhook_endpoint_id: Deliveries to this endpoint only.
        """
        return self._pages(
            "GET",
            "/v1/webhook-deliveries",
            models.DeliveryList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "event_type": event_type,
                    "webhook_endpoint_id": webhook_endpoint_id,
                }
            ),
            timeout=timeout,
        )

    def list_for_endpoint(
        self,
        webhook_endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.DeliveryStatus | Sequence[literals.DeliveryStatus] | None = None,
        event_type: literals.EventType | Sequence[literals.EventType] | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.Delivery, models.DeliveryList]:
        """List the deliveries to an endpoint with every attempt, newest first.

        Each attempt shows what was sent, what was answered, how long each phase took, and when the next attempt is
        due.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
        """
        return self._pages(
            "GET",
            path("/v1/webhook-endpoints/{}/deliveries", webhook_endpoint_id),
            models.DeliveryList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "event_type": event_type,
                }
            ),
            timeout=timeout,
        )

    async def redeliver(
        self,
        webhook_endpoint_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.FullDelivery:
        """Send one delivery again now, whatever its status.

        Sends the same event, with the same `event_id`, in a new round of attempts. The delivery goes before others,
        also while the circuit of the endpoint is open.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/webhook-endpoints/{}/deliveries/{}/redeliver", webhook_endpoint_id, delivery_id),
            models.FullDelivery,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def retrieve(
        self,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.FullDelivery:
        """Read one delivery: what was sent and what was answered, in each attempt.

        Finds the delivery by its id alone. Each attempt has the headers as sent, signatures included, and the
        answer: its headers, and the first 16 KiB of its body. `body` is null after 30 days, when the event is
        deleted.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
        """
        return await self._json(
            "GET",
            path("/v1/webhook-deliveries/{}", delivery_id),
            models.FullDelivery,
            timeout=timeout,
        )

    async def retrieve_for_endpoint(
        self,
        webhook_endpoint_id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> models.FullDelivery:
        """Read one delivery: what was sent and what was answered, in each attempt.

        Each attempt has the headers as sent, signatures included, and the answer: its headers, and the first 16 KiB
        of its body. `body` is null after 30 days, when the event is deleted.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
        """
        return await self._json(
            "GET",
            path("/v1/webhook-endpoints/{}/deliveries/{}", webhook_endpoint_id, delivery_id),
            models.FullDelivery,
            timeout=timeout,
        )


class AsyncWebhooksRecoveriesMethods(AsyncGroup):
    async def create(
        self,
        webhook_endpoint_id: str,
        *,
        from_: str,
        which: literals.RecoveryKind | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookRecovery:
        """Send again, in the background, all deliveries since a time that the endpoint did not accept.

        The recovery runs in the background, has no upper limit and continues after a crash. Its deliveries go
        behind new ones, within the limits of the endpoint.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            from_: Start: deliveries or events created at or after this time.
            which: `failed`: deliveries whose attempts all failed. `missing`: events of the last 30 days that the
                endpoint never accepted, including events from before it was registered. Default: `failed`.
        """
        return await self._json(
            "POST",
            path("/v1/webhook-endpoints/{}/recover", webhook_endpoint_id),
            models.WebhookRecovery,
            body=given({"from": from_, "which": which}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        webhook_endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.WebhookRecovery, models.WebhookRecoveryList]:
        """List the recoveries of an endpoint with their progress, newest first.

        Each recovery shows its progress.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
        """
        return self._pages(
            "GET",
            path("/v1/webhook-endpoints/{}/recoveries", webhook_endpoint_id),
            models.WebhookRecoveryList,
            query=given({"limit": limit, "cursor": cursor}),
            timeout=timeout,
        )

    async def retrieve(
        self,
        webhook_endpoint_id: str,
        recovery_id: str,
        *,
        wait: int | None = None,
        timeout: float | None = None,
    ) -> models.WebhookRecovery:
        """Read one recovery with its progress.

        The status `cancelled` means that the endpoint was disabled or deleted meanwhile.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            wait: Seconds to wait until it has ended.
        """
        return await self._json(
            "GET",
            path("/v1/webhook-endpoints/{}/recoveries/{}", webhook_endpoint_id, recovery_id),
            models.WebhookRecovery,
            query=given({"wait": wait}),
            timeout=timeout,
        )


class AsyncWebhooksStatsMethods(AsyncGroup):
    async def retrieve(
        self,
        webhook_endpoint_id: str,
        *,
        window: literals.StatisticsWindow | None = None,
        timeout: float | None = None,
    ) -> models.WebhookEndpointStatistics:
        """Delivery statistics of an endpoint.

        Covers 24 hours or 7 days: the current hour and the whole hours before it. `arrival_ms` is the time from the
        event to the 2xx, waits between attempts included; `response_ms` is the time of each call. Both are exact to
        10 %. Attempts are counted when they end, so that the answer is as fast for millions of attempts.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            window: Default: `24h`.
        """
        return await self._json(
            "GET",
            path("/v1/webhook-endpoints/{}/stats", webhook_endpoint_id),
            models.WebhookEndpointStatistics,
            query=given({"window": window}),
            timeout=timeout,
        )


class AsyncWebhooksMethods(AsyncGroup):
    def __init__(self, transport: AsyncTransport) -> None:
        super().__init__(transport)
        self.deliveries = AsyncWebhooksDeliveriesMethods(transport)
        self.recoveries = AsyncWebhooksRecoveriesMethods(transport)
        self.stats = AsyncWebhooksStatsMethods(transport)

    async def create(
        self,
        *,
        url: str,
        event_types: Sequence[literals.EventSubscription],
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
        max_per_second: int | None | NotGiven = NOT_GIVEN,
        max_concurrency: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CreatedWebhookEndpoint:
        """Register an endpoint. Its signing secret is in this answer only.

        The URL is https (in sandbox http too) at a public address, port 443, 8443 or above 1024. `event_types` are
        names of events, or `["*"]` for all. Keep `signing_secret`: it can not be read again.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            description: Description for people.
            metadata: Your own names and values. The object replaces the stored one.
            max_per_second: Most deliveries per second; null: no limit of the endpoint.
            max_concurrency: Most concurrent deliveries.
        """
        return await self._json(
            "POST",
            "/v1/webhook-endpoints",
            models.CreatedWebhookEndpoint,
            body=given(
                {
                    "url": url,
                    "event_types": event_types,
                    "description": description,
                    "metadata": metadata,
                    "max_per_second": max_per_second,
                    "max_concurrency": max_concurrency,
                }, "max_per_second"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def delete(
        self,
        webhook_endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.DeletedWebhookEndpoint:
        """Delete an endpoint. Its waiting deliveries are cancelled.

        Its delivery log stays readable.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "DELETE",
            path("/v1/webhook-endpoints/{}", webhook_endpoint_id),
            models.DeletedWebhookEndpoint,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_gte: str | None = None,
        created_lt: str | None = None,
        include: Literal["total_count"] | None = None,
        status: literals.WebhookEndpointStatus | Sequence[literals.WebhookEndpointStatus] | None = None,
        window: literals.StatisticsWindow | None = None,
        timeout: float | None = None,
    ) -> AsyncPages[models.WebhookEndpoint, models.WebhookEndpointList]:
        """List the endpoints, newest first.

        A disabled endpoint says why, and stays disabled until you enable it. `window` adds the delivery statistics
        of each.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.

        Args:
            limit: Most items of a page; 20 when absent.
            cursor: `next_cursor` of the page before.
            created_gte: Created at or after this time.
            created_lt: Created before this time.
            window: Adds `statistics` to each endpoint.
        """
        return self._pages(
            "GET",
            "/v1/webhook-endpoints",
            models.WebhookEndpointList,
            query=given(
                {
                    "limit": limit,
                    "cursor": cursor,
                    "created_gte": created_gte,
                    "created_lt": created_lt,
                    "include": include,
                    "status": status,
                    "window": window,
                }
            ),
            timeout=timeout,
        )

    async def retrieve(
        self,
        webhook_endpoint_id: str,
        *,
        timeout: float | None = None,
    ) -> models.WebhookEndpoint:
        """Read one endpoint.

        The answer does not contain the secret.

        Scope `admin`, with a key of your own account. Sessions: owner, admin, developer.
        """
        return await self._json(
            "GET",
            path("/v1/webhook-endpoints/{}", webhook_endpoint_id),
            models.WebhookEndpoint,
            timeout=timeout,
        )

    async def rotate_secret(
        self,
        webhook_endpoint_id: str,
        *,
        grace_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.CreatedWebhookEndpoint:
        """Make a new signing secret. It is in this answer only.

        The current secret signs beside the new one for `grace_seconds` (0 to 604800, 86400 when absent); older
        secrets no longer sign. With 0 only the new secret signs, at once.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            grace_seconds: Seconds during which the previous secret signs as well. Default: `86400`.
        """
        return await self._json(
            "POST",
            path("/v1/webhook-endpoints/{}/rotate-secret", webhook_endpoint_id),
            models.CreatedWebhookEndpoint,
            body=given({"grace_seconds": grace_seconds}),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def test(
        self,
        webhook_endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.SentPing:
        """Send a signed ping to this endpoint. Its delivery log shows the result.

        The ping goes to this endpoint only, whatever it subscribed to.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.
        """
        return await self._json(
            "POST",
            path("/v1/webhook-endpoints/{}/test", webhook_endpoint_id),
            models.SentPing,
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )

    async def update(
        self,
        webhook_endpoint_id: str,
        *,
        if_match: str | None = None,
        url: str | None = None,
        event_types: Sequence[literals.EventSubscription] | None = None,
        description: str | None = None,
        metadata: Mapping[str, str] | None = None,
        max_per_second: int | None | NotGiven = NOT_GIVEN,
        max_concurrency: int | None = None,
        status: literals.WebhookEndpointStatus | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.WebhookEndpoint:
        """Change an endpoint, or enable or disable it.

        Members that are absent keep their values; `metadata` is replaced as a whole. Disabling cancels waiting
        deliveries. An endpoint that is enabled again gets later events only.

        Scope `admin`, with a key of your own account. Sessions: owner, admin; in sandbox also developer.

        Args:
            if_match: Optional. The `ETag` that was read, or the version in quotes, such as `"3"`: with another one,
                412.
            description: Description for people.
            metadata: Your own names and values. The object replaces the stored one.
            max_per_second: Most deliveries per second; null: no limit of the endpoint.
            max_concurrency: Most concurrent deliveries.
            status: `enabled` enables a disabled endpoint again.
        """
        return await self._json(
            "PATCH",
            path("/v1/webhook-endpoints/{}", webhook_endpoint_id),
            models.WebhookEndpoint,
            headers={"If-Match": if_match},
            body=given(
                {
                    "url": url,
                    "event_types": event_types,
                    "description": description,
                    "metadata": metadata,
                    "max_per_second": max_per_second,
                    "max_concurrency": max_concurrency,
                    "status": status,
                }, "max_per_second"
            ),
            idempotency_key=idempotency_key or random_key(),
            timeout=timeout,
        )


class AsyncGroups:
    """All groups of methods."""

    def __init__(self, transport: AsyncTransport) -> None:
        self.account = AsyncAccountMethods(transport)
        """The account, its API keys, requirements for captures, products, usage and audit log."""
        self.agents = AsyncAgentsMethods(transport)
        """Software that acts on another party’s behalf: registration, sessions and suspension."""
        self.analytics = AsyncAnalyticsMethods(transport)
        """Reports: claims by day, factors by the outcome of cases, decisions by reason, spend by mandate, approvals by
        age, tokens that were never used.
        """
        self.approvals = AsyncApprovalsMethods(transport)
        """Actions of agents that people have to approve, and their decisions."""
        self.cases = AsyncCasesMethods(transport)
        """Decisions of adjusters about claims, with reasons and due dates."""
        self.claims = AsyncClaimsMethods(transport)
        """Signed captures, one or thousands at once, their findings, and the combined result for each claim."""
        self.clinical = AsyncClinicalMethods(transport)
        """Clinician orders and their signatures, prescribers, exclusion lists, the clinical policy, and incident
        reports.
        """
        self.decisions = AsyncDecisionsMethods(transport)
        """Every recorded decision, its explanation, and proofs that no entry was changed or left out."""
        self.devices = AsyncDevicesMethods(transport)
        """Devices that may sign, and the authorities that certify them."""
        self.events = AsyncEventsMethods(transport)
        """Events in order, for receivers that take no webhooks, and the types of events."""
        self.intent = AsyncIntentMethods(transport)
        """Tokens for actions that a person authorized an agent to run, their revocation, and the stop of all agents."""
        self.mandates = AsyncMandatesMethods(transport)
        """Permissions that people grant to agents: constraints, budgets, check-ins and delegation."""
        self.media = AsyncMediaMethods(transport)
        """Uploads and downloads of photos and videos, and the anchors of C2PA."""
        self.org = AsyncOrgMethods(transport)
        """The users of an account, their roles, and invites."""
        self.overview = AsyncOverviewMethods(transport)
        """Work that waits for you, a search over all objects, every reason code, and the changes of this interface."""
        self.policy = AsyncPolicyMethods(transport)
        """Rules that say which actions may run under which conditions, in versions, and the secret of policy webhooks."""
        self.schedules = AsyncSchedulesMethods(transport)
        """Payments that an agent may make to one counterparty, once in each cycle."""
        self.screenings = AsyncScreeningsMethods(transport)
        """Scores that a detector of synthetic media gives an image."""
        self.trace = AsyncTraceMethods(transport)
        """Language models, their inferences and what is inside them; canaries, the kill switch and session locks;
        diffs; shares.
        """
        self.webhooks = AsyncWebhooksMethods(transport)
        """Endpoints that receive events, and the log of each delivery."""
