// `/login/link`: where the link of a mail leads, until there is a dashboard. Opening it uses nothing up: scanners of mail
// open links too. The token is in the fragment, so the page is the same for everybody.

import { html } from './html.ts'
import type { DocsPage } from './layout.ts'

export function loginPage(script: string): DocsPage {
  const body = html`<div class="home login">
<h1>Sign in</h1>
<noscript><p class="lead">This page needs scripts: the link contains what signs you in where no server sees it.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<form id="confirm" hidden>
<p>The link signs you in on this device, once.</p>
<p><button type="submit">Sign in</button></p>
</form>
<form id="request" hidden>
<p><label for="email">Your e-mail address</label></p>
<p><input type="email" id="email" name="email" autocomplete="email" maxlength="254" required> <button type="submit">Mail me a link</button></p>
</form>
<form id="shown" hidden>
<p>This service shows its links instead of mailing them alone. A session from such a link reaches sandbox data only.</p>
<p><button type="submit">Sign in with the link</button></p>
</form>
<p id="sso"><a class="button" href="sso">Sign in with your organization</a></p>
<p id="back" hidden><a href="../app">Open the dashboard</a></p>
<form id="leave" hidden>
<p><button type="submit">Sign out</button></p>
<p><a href="../passkeys">Your passkeys</a> · <a href="../approve">Approvals</a></p>
</form>
</div>
`
  return { path: '/login/link', title: 'Sign in', body, isWide: true, scripts: [{ src: script, isModule: true }] }
}

/** `/login/sso`: begins single sign-on, and finishes it when the identity provider leads back here. */
export function ssoPage(script: string): DocsPage {
  const body = html`<div class="home login">
<h1>Sign in with your organization</h1>
<noscript><p class="lead">This page needs scripts: it takes what signs you in out of the address.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<form id="begin" hidden>
<p><label for="domain">Your e-mail address, or its domain</label></p>
<p><input type="text" id="domain" name="domain" autocomplete="email" maxlength="254" required> <button type="submit">Go on</button></p>
</form>
<form id="link" hidden>
<p>You are signed in. With this button your user is linked to the identity provider of your organization: you sign in there first.</p>
<p><button type="submit">Link my user</button></p>
</form>
<p id="signin" hidden><a href="link">Sign in or out</a></p>
</div>
`
  return {
    path: '/login/sso',
    title: 'Sign in with your organization',
    body,
    isWide: true,
    scripts: [{ src: script, isModule: true }],
  }
}

/** `/login/invite`: the same for the link of an invite. */
export function invitePage(script: string): DocsPage {
  const body = html`<div class="home login">
<h1>Accept an invite</h1>
<noscript><p class="lead">This page needs scripts: the link contains what signs you in where no server sees it.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<form id="accept" hidden>
<p>You become a user of the account that invited you, and this device is signed in.</p>
<p><button type="submit">Accept the invite</button></p>
</form>
<form id="close" hidden>
<p>An address has one account. With this button you leave your own account: it is closed, and erased 30 days after its closure.</p>
<p><button type="submit">Close my own account and accept the invite</button></p>
</form>
<p id="signin" hidden><a href="link">Sign in or out</a></p>
</div>
`
  return {
    path: '/login/invite',
    title: 'Accept an invite',
    body,
    isWide: true,
    scripts: [{ src: script, isModule: true }],
  }
}

/** `/passkeys`: where a signed-in person registers, names and removes passkeys, until there is a dashboard. */
export function passkeysPage(script: string): DocsPage {
  const body = html`<div class="home login">
<h1>Your passkeys</h1>
<noscript><p class="lead">This page needs scripts: only they can ask this device for a passkey.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<p id="signin" hidden><a href="login/link">Sign in or out</a></p>
<div id="own" hidden>
<p>With a passkey you confirm that an action is exactly what you want. This device asks for your face, your finger or its code.</p>
<ul class="passkeys" id="passkeys"></ul>
<p id="none" hidden>You have none yet.</p>
<form id="add">
<p><label for="name">Name of a new passkey</label></p>
<p><input type="text" id="name" name="name" maxlength="100" autocomplete="off" required> <button type="submit">Add a passkey</button></p>
</form>
</div>
</div>
`
  return { path: '/passkeys', title: 'Your passkeys', body, isWide: true, scripts: [{ src: script, isModule: true }] }
}
