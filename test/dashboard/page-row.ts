/** One page of the dashboard in the table of pages. */
export interface PageRow {
  /** Below /app/<environment>/; `:claim` and the like are replaced by an id. */
  path: string
  /** Its heading, with data. */
  heading: string
  /** The request without which it can't show anything. */
  request: RegExp
  /** Without it, the page says so. */
  permission?: string
  /** A role that lacks the permission, where developers have it. */
  deniedTo?: 'analyst'
  /** What it says without data. */
  empty?: string
}

export const MISSING = 'There is no such thing in this environment'
