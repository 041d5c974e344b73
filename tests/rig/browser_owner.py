"""The owner of a house at the screen: what a person clicks on and types in its pages."""

from collections.abc import Mapping
import contextlib

from playwright.async_api import Error, Locator, Page, expect

from .home_assistant import HomeAssistant

INTEGRATION = "Ollama Warm"
SETTLE_SECONDS = 30
ATTEMPTS = 3


class Owner:
    """Walks through Home Assistant's pages, and sees what they show."""

    def __init__(self, page: Page, house: HomeAssistant) -> None:
        """Sit down in front of an empty page."""
        self.page = page
        self._house = house
        self.dialog = page.locator("dialog-data-entry-flow")
        self.chat = page.locator("ha-assist-chat")

    async def log_in(self) -> None:
        """Enter name and password at the login page."""
        name, password = self._house.admin_login
        await self.page.goto(self._house.url)
        await self.page.get_by_label("Username").fill(name)
        await self.page.get_by_label("Password", exact=True).fill(password)
        await self.page.get_by_role("button", name="Log in").click()
        await self.page.get_by_text("Settings", exact=True).wait_for()

    async def go(self, path: str) -> None:
        """Open a page by its address."""
        # A dialog that has just closed goes a step back in the history, a little later.
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(Error):
                await self.page.goto(self._house.url + path)
                return
        await self.page.goto(self._house.url + path)

    async def begin_set_up(self) -> None:
        """Choose our integration from the list of all, as somebody does who has just got it."""
        await self.go("/config/integrations/dashboard")
        await self.page.get_by_role("button", name="Add integration").click()
        choice = self.page.locator("dialog-add-integration")
        await choice.locator("input").first.fill(INTEGRATION)
        await choice.get_by_text(INTEGRATION, exact=True).click()

    async def add_server(self, url: str) -> None:
        """Enter a server's address; Home Assistant then offers a room for its device."""
        await self.dialog.get_by_text("Add a server").click()
        await self.dialog.locator("input[type=url]").fill(url)
        await self.submit()
        await self.dialog.get_by_role("button", name="Skip and finish").click()
        await self.dialog.wait_for(state="hidden")

    async def begin_agent(self, choice: str) -> None:
        """Ask for another agent on the integration's page."""
        await self.go("/config/integrations/integration/ollama_warm")
        await self.page.get_by_text("Add conversation agent").first.click()
        await self.dialog.get_by_text(choice).click()

    async def change_agent(self, name: str) -> None:
        """Open the form of an agent that is there."""
        await self.go("/config/integrations/integration/ollama_warm")
        row = self.agent_row(name)
        await row.get_by_role("button", name="Change conversation agent").click()
        await self.section("Basics").wait_for()

    def agent_row(self, name: str) -> Locator:
        """Return an agent's row on the integration's page."""
        return self.page.locator("ha-config-sub-entry-row").filter(has_text=name)

    def section(self, name: str) -> Locator:
        """Return the heading of a form's section, which opens and closes it."""
        return self.dialog.get_by_role("button", name=name, exact=True)

    async def name_it(self, name: str) -> None:
        """Enter a name in the form."""
        await self.dialog.locator("input[name=name]").fill(name)

    def number(self, label: str) -> Locator:
        """Return the form's field for a number."""
        fields = self.dialog.locator("ha-selector-number").filter(has_text=label)
        return fields.locator("input")

    async def write_first(self, words: str) -> None:
        """Write something in front of an agent's instructions."""
        await self.dialog.locator(".cm-content").click()
        await self.page.keyboard.press("Control+Home")
        await self.page.keyboard.insert_text(words)

    async def keep_as_it_is(self) -> None:
        """Insist on instructions that keep changing."""
        fields = self.dialog.locator("ha-selector-boolean")
        await fields.filter(has_text="Keep it as it is").locator("ha-switch").click()

    async def submit(self) -> None:
        """Send the form."""
        await self.dialog.get_by_role("button", name="Submit").click()

    async def finish(self, words: str, button: str) -> None:
        """Read how a flow has ended, and close it."""
        await expect(self.dialog).to_contain_text(words)
        await self.dialog.get_by_role("button", name=button).last.click()
        await self.dialog.wait_for(state="hidden")

    async def open_device(self, name: str) -> None:
        """Open an agent's or a server's device page from the list of the integration."""
        await self.go("/config/integrations/integration/ollama_warm")
        await self.page.locator("ha-config-entry-device-row").filter(has_text=name).first.click()
        await self.page.get_by_text("Service info").wait_for()

    async def warm_now(self) -> None:
        """Press the button on an agent's device page."""
        await self.page.get_by_role("button", name="Press").click()

    def entity(self, name: str) -> Locator:
        """Return the row of an entity on a device page."""
        rows = self.page.locator("ha-device-entities-card").locator("hui-generic-entity-row")
        return rows.filter(has=self.page.get_by_text(name, exact=True))

    async def sees(self, values: Mapping[str, str]) -> None:
        """Wait until entities on a device page show these values."""
        for name, value in values.items():
            await expect(self.entity(name)).to_contain_text(value, timeout=SETTLE_SECONDS * 1000)

    async def use_as_assistant(self, agent: str) -> None:
        """Make an agent the one that answers in the dialog, where nobody has chosen another."""
        entity = f"conversation.{agent.lower()}"
        pipeline = await self._house.make_pipeline(agent, entity)
        await self._house.command("assist_pipeline/pipeline/set_preferred", pipeline_id=pipeline)

    async def open_assist(self) -> None:
        """Open the dialog in which one types questions."""
        await self.go("/home")
        await self.page.get_by_role("button", name="Assist (A)").click()

    async def ask(self, question: str) -> Locator:
        """Ask the assistant something, and return the newest words in the dialog."""
        await self.chat.locator("input").fill(question)
        await self.chat.locator("input").press("Enter")
        await expect(self.chat.locator(".message.user").last).to_contain_text(question)
        return self.chat.locator(".message.hass").last
