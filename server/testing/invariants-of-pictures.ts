/** Conditions about pictures and their owners, as in `invariants.ts`. */
export const invariantsOfPictures: Record<string, string> = {
  'a picture has its owner': `
    select owner_kind, owner_id, picture_id from picture where not case owner_kind
      when 'identity' then exists (select from identity where identity_id::text = owner_id)
      when 'app' then exists (select from app where client_id = owner_id)
      when 'service' then owner_id = 'service' and expires_at is null
        and exists (select from setting_revision where stored ->> 'branding.logo' = picture_id::text)
      else exists (select from organization where organization_id::text = owner_id) end`,
  'an owner uses one picture': `
    select owner_id from picture where expires_at is null and owner_kind <> 'service'
    group by owner_id having count(*) > 1`,
  'the logo of each revision of the settings is stored': `
    select revision from setting_revision where stored ? 'branding.logo' and not exists (
      select from picture where owner_id = 'service' and picture_id::text = stored ->> 'branding.logo')`,
}
