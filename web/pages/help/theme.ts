/**
 * Shows a page in the theme that the user chose on the others (`web/lib/theme.ts`). That module is a part of the script
 * of all pages, which these pages do not load.
 */
export function applyChosenTheme({ documentElement }: Pick<Document, 'documentElement'>): void {
  const chosen = readTheme()
  if (chosen === 'light' || chosen === 'dark') documentElement.dataset['theme'] = chosen
}

/** Browsers that forbid storage throw on any access. */
function readTheme(): string | null {
  try {
    return localStorage.getItem('theme')
  } catch {
    return null
  }
}
