import { readLocal, writeLocal } from './remembered.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'theme'

/** Returns the theme that the user chose in this browser. */
export function rememberedTheme(): Theme {
  const remembered = readLocal(key)
  return themes.find((theme) => theme === remembered) ?? 'system'
}

/** Shows the pages in a theme, now and from now on. */
export function chooseTheme(theme: Theme): void {
  writeLocal(key, theme)
  applyTheme(theme)
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
