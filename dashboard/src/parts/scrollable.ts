/**
 * For `Table.ScrollContainer`: the keyboard scrolls a table that is wider than its page, too, and what is hidden in the table for
 * screen readers alone is placed within it, and does not widen the page.
 */
export const SCROLLABLE = { tabIndex: 0, pos: 'relative' } as const
