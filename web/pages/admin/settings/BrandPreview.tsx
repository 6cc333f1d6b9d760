import { accentOf } from '@countersign/protocol/formats/looks/accent'
import { Mark } from '../../../components/frame/Letterhead.tsx'
import { useSettingsMessages } from './words.ts'

type Props = { name: string; accent: string; logo: string | null }

/** Shows how a logo, name and color look on a phone, light and dark. Without a color it shows that of Countersign. */
export function BrandPreview({ name, accent, logo }: Props) {
  const words = useSettingsMessages()
  const color = accentOf(accent)
  return (
    <div class="field">
      <span class="label">{words.preview.title}</span>
      <div class="brand-previews">
        {(['light', 'dark'] as const).map((ground) => {
          const { pen, deep, tint } = color?.[ground] ?? {}
          return (
            <div
              key={ground}
              class={`ground ${ground} brand-preview`}
              style={{ '--pen': pen, '--pen-deep': deep, '--pen-tint': tint }}
              aria-hidden="true"
            >
              <p class="wordmark">
                {logo === null ? <Mark /> : <img class="mark" src={logo} alt="" />}
                <bdi>{name}</bdi>
              </p>
              <span class="button primary">{words.preview.act}</span>
              <span class="brand-preview-link">{words.preview.link}</span>
              <small>{words.preview[ground]}</small>
            </div>
          )
        })}
      </div>
    </div>
  )
}
