import * as host from '../host/host';
import { navigation, openDraft } from '../navigation';
import { preferences } from '../preferences';
import { server } from '../server/store';

/** A new session in the folder that is in use; without one, in a folder that a person chooses. */
export async function newSession(): Promise<void> {
  const directory = currentDirectory();
  if (directory === null) await newSessionIn();
  else openDraft(directory);
}

/** A new session in a folder that a person chooses. */
export async function newSessionIn(): Promise<void> {
  const folder = await host.pickFolder(currentDirectory());
  if (folder !== null) openDraft(folder);
}

/** The folder of what is shown, else the one that was used last. */
function currentDirectory(): string | null {
  const { place } = navigation.getState();
  const here =
    place.kind === 'session' ? server.getState().sessions[place.id]?.directory : place.directory;
  return here ?? preferences.getState().lastDirectory;
}
