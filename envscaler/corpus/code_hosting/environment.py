import copy
import re
from typing import Collection, Dict, List, Literal, Optional, Tuple, TypedDict, TypeVar

Record = TypeVar("Record")


class UserInfo(TypedDict):
    username: str
    name: str
    team: str  # "platform", "payments", "frontend", "quality", ...
    status: str  # "active" or "deactivated"


class RepositoryInfo(TypedDict):
    repo_id: str
    name: str
    description: str
    default_branch: str  # name of the branch that the others are compared with
    merge_methods: List[str]  # out of "merge", "squash" and "rebase"
    archived: bool
    roles: Dict[str, str]  # {username: "read", "triage", "write", "maintain" or "admin"}


class BranchInfo(TypedDict):
    branch_id: str
    repo_id: str
    name: str  # unique within the repository
    revision: int  # grows with everything that changes the branch
    behind: int  # commits of the default branch that this one lacks
    broken_job: Optional[str]  # the pipeline job that fails on this branch; seen only by running a pipeline


class ProtectionRuleInfo(TypedDict):
    rule_id: str
    repo_id: str
    pattern: str  # a branch name, or a prefix with a star: "release/*"
    required_approvals: int
    owner_team: Optional[str]  # one approval must come from this team
    require_pipeline: bool
    require_up_to_date: bool


class PullRequestInfo(TypedDict):
    pull_id: str
    repo_id: str
    title: str
    author: str  # username
    source_branch: str
    target_branch: str
    status: str  # "draft", "open", "merged" or "closed"
    reviewers: List[str]  # usernames of those who were asked
    linked_issues: List[str]  # issue ids that a merge closes
    opened_on: str
    merged_on: Optional[str]
    merged_by: Optional[str]
    merge_method: Optional[str]


class ReviewInfo(TypedDict):
    review_id: str
    pull_id: str
    reviewer: str  # username
    verdict: str  # "approved", "changes_requested" or "commented"
    body: str
    revision: int  # of the source branch when it was reviewed
    submitted_on: str
    dismissed_reason: Optional[str]  # set once the review is dismissed


class PipelineInfo(TypedDict):
    pipeline_id: str
    repo_id: str
    branch: str
    revision: int
    status: str  # "passed" or "failed"
    failed_job: Optional[str]
    started_by: str
    run_on: str


class IssueInfo(TypedDict):
    issue_id: str
    repo_id: str
    title: str
    labels: List[str]  # in alphabetical order
    assignee: Optional[str]  # username
    milestone_id: Optional[str]
    status: str  # "open" or "closed"
    opened_on: str
    closed_on: Optional[str]
    closed_by: Optional[str]  # the pull request whose merge closed it


class MilestoneInfo(TypedDict):
    milestone_id: str
    repo_id: str
    title: str
    due_on: str
    status: str  # "open" or "closed"


class ReleaseInfo(TypedDict):
    release_id: str
    repo_id: str
    tag: str  # vMAJOR.MINOR.PATCH
    branch: str
    revision: int  # of the branch when it was released
    notes: str
    published_on: str
    published_by: str


ROLES = ("read", "triage", "write", "maintain", "admin")
MERGE_METHODS = ("merge", "squash", "rebase")
VERDICTS = ("approved", "changes_requested", "commented")
PULL_STATUSES = ("draft", "open", "merged", "closed")
BLOCKER_LABEL = "release-blocker"
MAX_APPROVALS = 5


class CodeHosting:
    def __init__(self, init_config: dict):
        """
        The code hosting server of a software company, used in the name of the person who is signed in.

        Args:
            init_config (dict): The initial state: one key per attribute below.
        """
        # Users: {username: UserInfo}
        self.users: Dict[str, UserInfo] = init_config.get("users", {})

        # Repositories with their roles: {repo_id: RepositoryInfo}
        self.repositories: Dict[str, RepositoryInfo] = init_config.get("repositories", {})

        # Branches: {branch_id: BranchInfo}
        self.branches: Dict[str, BranchInfo] = init_config.get("branches", {})

        # Protection rules: {rule_id: ProtectionRuleInfo}
        self.protection_rules: Dict[str, ProtectionRuleInfo] = init_config.get("protection_rules", {})

        # Pull requests: {pull_id: PullRequestInfo}
        self.pull_requests: Dict[str, PullRequestInfo] = init_config.get("pull_requests", {})

        # Reviews: {review_id: ReviewInfo}
        self.reviews: Dict[str, ReviewInfo] = init_config.get("reviews", {})

        # Pipelines: {pipeline_id: PipelineInfo}
        self.pipelines: Dict[str, PipelineInfo] = init_config.get("pipelines", {})

        # Issues: {issue_id: IssueInfo}
        self.issues: Dict[str, IssueInfo] = init_config.get("issues", {})

        # Milestones: {milestone_id: MilestoneInfo}
        self.milestones: Dict[str, MilestoneInfo] = init_config.get("milestones", {})

        # Releases: {release_id: ReleaseInfo}
        self.releases: Dict[str, ReleaseInfo] = init_config.get("releases", {})

        # Labels that issues may carry
        self.labels: List[str] = init_config.get("labels", [])

        # Username of the person who is signed in
        self.signed_in: str = init_config.get("signed_in", "")

        # Today, YYYY-MM-DD
        self.current_date: str = init_config.get("current_date", "2025-01-01")

        # The number that the next new record of each kind gets
        self.next_branch_number: int = init_config.get("next_branch_number", 1)
        self.next_rule_number: int = init_config.get("next_rule_number", 1)
        self.next_pull_number: int = init_config.get("next_pull_number", 1)
        self.next_review_number: int = init_config.get("next_review_number", 1)
        self.next_pipeline_number: int = init_config.get("next_pipeline_number", 1)
        self.next_issue_number: int = init_config.get("next_issue_number", 1)
        self.next_release_number: int = init_config.get("next_release_number", 1)

    # Helpers

    @staticmethod
    def _fail(error: str) -> dict:
        return {"success": False, "error": error}

    @staticmethod
    def _unknown(name: str, value: object) -> dict:
        if not isinstance(value, str):
            return {"success": False, "error": f"{name} must be a string."}
        return {"success": False, "error": f"There is no {name} '{value[:60]}'."}

    @staticmethod
    def _find(table: Dict[str, Record], key: object) -> Optional[Record]:
        return table.get(key) if isinstance(key, str) else None

    @staticmethod
    def _text_filter(name: str, value: object) -> Optional[str]:
        """Say what is wrong with an optional text, or None."""
        return None if value is None or isinstance(value, str) else f"{name} must be a string."

    @staticmethod
    def _choice_filter(name: str, value: object, allowed: Collection[str]) -> Optional[str]:
        """Say what is wrong with an optional value out of a fixed set, or None."""
        if value is None or (isinstance(value, str) and value in allowed):
            return None
        return f"{name} must be one of: {', '.join(allowed)}."

    @staticmethod
    def _contains(text: str, part: Optional[str]) -> bool:
        return part is None or part.strip().lower() in text.lower()

    @staticmethod
    def _filled(value: object) -> bool:
        return isinstance(value, str) and bool(value.strip())

    @staticmethod
    def _age(key: str) -> Tuple[int, str]:
        """Order of ids that end in a number: the older the smaller."""
        return len(key), key

    @staticmethod
    def _version(tag: object) -> Optional[Tuple[int, int, int]]:
        found = re.fullmatch(r"v([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})", tag) if isinstance(tag, str) else None
        return (int(found[1]), int(found[2]), int(found[3])) if found else None

    def _has_role(self, repo: RepositoryInfo, username: str, least: str) -> bool:
        role = repo["roles"].get(username)
        return role is not None and ROLES.index(role) >= ROLES.index(least)

    def _refused(self, repo: RepositoryInfo, least: str) -> Optional[str]:
        """Say why the person who is signed in may not change this repository, or None."""
        if repo["archived"]:
            return f"Repository {repo['name']} is archived and cannot be changed."
        if not self._has_role(repo, self.signed_in, least):
            held = repo["roles"].get(self.signed_in, "none")
            return f"This needs the role {least} in {repo['name']}; {self.signed_in} has {held}."
        return None

    def _branch(self, repo_id: str, name: object) -> Optional[BranchInfo]:
        for branch in self.branches.values():
            if branch["repo_id"] == repo_id and branch["name"] == name:
                return branch
        return None

    def _protection(self, repo_id: str, name: str) -> Optional[ProtectionRuleInfo]:
        """The rule that protects a branch: one of its name first, then one with a star."""
        starred = None
        for _, rule in sorted(self.protection_rules.items()):
            if rule["repo_id"] != repo_id:
                continue
            if rule["pattern"] == name:
                return rule
            if rule["pattern"].endswith("*") and name.startswith(rule["pattern"][:-1]):
                starred = starred or rule
        return starred

    def _newest_pipeline(self, branch: BranchInfo) -> Optional[PipelineInfo]:
        """The newest pipeline on the present revision of a branch."""
        found = [
            run
            for run in self.pipelines.values()
            if run["repo_id"] == branch["repo_id"]
            and run["branch"] == branch["name"]
            and run["revision"] == branch["revision"]
        ]
        return max(found, key=lambda run: self._age(run["pipeline_id"])) if found else None

    def _tested(self, branch: BranchInfo) -> Optional[str]:
        """Say why a branch does not count as tested, or None."""
        run = self._newest_pipeline(branch)
        if run is None:
            return f"no pipeline has run on revision {branch['revision']} of {branch['name']}"
        if run["status"] != "passed":
            return f"the newest pipeline on {branch['name']} failed in job '{run['failed_job']}'"
        return None

    def _verdicts(self, pull_id: str) -> Dict[str, ReviewInfo]:
        """The latest verdict of each reviewer; comments and dismissed reviews are none."""
        latest: Dict[str, ReviewInfo] = {}
        for review in sorted(self.reviews.values(), key=lambda row: self._age(row["review_id"])):
            if review["pull_id"] == pull_id and review["verdict"] != "commented" and review["dismissed_reason"] is None:
                latest[review["reviewer"]] = review
        return latest

    def _blockers(self, pull: PullRequestInfo) -> List[str]:
        """Every reason why the rules keep a pull request from being merged now."""
        repo = self.repositories[pull["repo_id"]]
        source = self._branch(pull["repo_id"], pull["source_branch"])
        if pull["status"] != "open":
            return [f"the pull request is {pull['status']}"]
        if source is None:
            return [f"branch {pull['source_branch']} is gone"]
        rule = self._protection(pull["repo_id"], pull["target_branch"])
        if rule is None:
            return []
        reasons = []
        verdicts = self._verdicts(pull["pull_id"])
        counted = [
            reviewer
            for reviewer, review in verdicts.items()
            if review["verdict"] == "approved"
            and review["revision"] == source["revision"]
            and self.users[reviewer]["status"] == "active"
            and self._has_role(repo, reviewer, "write")
            and reviewer != pull["author"]
        ]
        if len(counted) < rule["required_approvals"]:
            reasons.append(f"{len(counted)} of {rule['required_approvals']} approvals count at this revision")
        team = rule["owner_team"]
        if team is not None and all(self.users[reviewer]["team"] != team for reviewer in counted):
            reasons.append(f"an approval from team {team} is missing")
        for reviewer, review in sorted(verdicts.items()):
            if review["verdict"] == "changes_requested":
                reasons.append(f"{reviewer} requests changes ({review['review_id']})")
        if rule["require_pipeline"]:
            problem = self._tested(source)
            if problem:
                reasons.append(problem)
        if rule["require_up_to_date"] and source["behind"]:
            reasons.append(f"{source['name']} is behind {repo['default_branch']} by {source['behind']}")
        return reasons

    def _assignable(self, repo: RepositoryInfo, username: object) -> Optional[str]:
        """Say why somebody cannot be given work in a repository, or None."""
        user = self._find(self.users, username)
        if user is None:
            return "There is no such username; look it up with search_users."
        if user["status"] != "active":
            return f"The account of {user['name']} is deactivated."
        if user["username"] not in repo["roles"]:
            return f"{user['name']} has no role in {repo['name']}."
        return None

    def _labels_problem(self, labels: object) -> Optional[str]:
        if not isinstance(labels, list) or any(not isinstance(label, str) for label in labels):
            return "labels must be a list of strings."
        unknown = [label for label in labels if label not in self.labels]
        if unknown:
            return f"There is no label '{unknown[0][:60]}'; labels are: {', '.join(self.labels)}."
        return "The same label is given twice." if len(set(labels)) != len(labels) else None

    def _milestone_problem(self, repo: RepositoryInfo, milestone_id: object) -> Optional[str]:
        milestone = self._find(self.milestones, milestone_id)
        if milestone is None or milestone["repo_id"] != repo["repo_id"]:
            return f"There is no such milestone in {repo['name']}."
        return None if milestone["status"] == "open" else f"Milestone '{milestone['title']}' is closed."

    def _same_pull(self, repo_id: str, source: str, target: str, besides: str = "") -> Optional[PullRequestInfo]:
        for pull in self.pull_requests.values():
            if (pull["repo_id"], pull["source_branch"], pull["target_branch"]) == (repo_id, source, target):
                if pull["status"] in ("draft", "open") and pull["pull_id"] != besides:
                    return pull
        return None

    # Queries

    def search_users(self, name: Optional[str] = None, team: Optional[str] = None) -> dict:
        """
        Find people; every filter that is given must match.

        Args:
            name (str, optional): Part of the full name or the username, any case.
            team (str, optional): Exact name of the team.

        Returns:
            dict: {"success": True, "data": [UserInfo, ...], "signed_in": str, "today": str} sorted by username, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name) or self._text_filter("team", team)
        if problem:
            return self._fail(problem)
        found = [
            user
            for _, user in sorted(self.users.items())
            if (self._contains(user["name"], name) or self._contains(user["username"], name))
            and team in (None, user["team"])
        ]
        return {
            "success": True,
            "data": copy.deepcopy(found),
            "signed_in": self.signed_in,
            "today": self.current_date,
        }

    def search_repositories(self, name: Optional[str] = None, archived: Optional[bool] = None) -> dict:
        """
        Find repositories; every filter that is given must match.

        Args:
            name (str, optional): Part of the name, any case.
            archived (bool, optional): True for archived ones only, False for all others.

        Returns:
            dict: {"success": True, "data": [RepositoryInfo, ...]} sorted by repo_id, or
            {"success": False, "error": str}.
        """
        problem = self._text_filter("name", name)
        if problem is None and archived is not None and not isinstance(archived, bool):
            problem = "archived must be true or false."
        if problem:
            return self._fail(problem)
        found = [
            repo
            for _, repo in sorted(self.repositories.items())
            if self._contains(repo["name"], name) and archived in (None, repo["archived"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_repository(self, repo_id: str) -> dict:
        """
        Show a repository with its protection rules, milestones and releases.

        Args:
            repo_id (str): Repository id, e.g. "R-11".

        Returns:
            dict: {"success": True, "data": {"repository": RepositoryInfo, "your_role": str or None,
            "protection_rules": [ProtectionRuleInfo, ...], "milestones": [MilestoneInfo with "open_issues", ...],
            "releases": [ReleaseInfo, ...] the newest last}}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        rules = [rule for _, rule in sorted(self.protection_rules.items()) if rule["repo_id"] == repo_id]
        milestones = [
            {
                **milestone,
                "open_issues": sum(
                    issue["milestone_id"] == key and issue["status"] == "open" for issue in self.issues.values()
                ),
            }
            for key, milestone in sorted(self.milestones.items())
            if milestone["repo_id"] == repo_id
        ]
        releases = [row for row in self.releases.values() if row["repo_id"] == repo_id]
        data = {
            "repository": repo,
            "your_role": repo["roles"].get(self.signed_in),
            "protection_rules": rules,
            "milestones": milestones,
            "releases": sorted(releases, key=lambda row: (row["published_on"], self._age(row["release_id"]))),
        }
        return {"success": True, "data": copy.deepcopy(data)}

    def list_branches(self, repo_id: str, name: Optional[str] = None) -> dict:
        """
        List the branches of a repository.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            name (str, optional): Part of the branch name, any case.

        Returns:
            dict: {"success": True, "data": [{"branch_id", "name": str, "revision", "behind": int, "protected": bool,
            "newest_pipeline": "passed", "failed" or None (none at this revision)}, ...]} sorted by name, or
            {"success": False, "error": str}.
        """
        if self._find(self.repositories, repo_id) is None:
            return self._unknown("repo_id", repo_id)
        problem = self._text_filter("name", name)
        if problem:
            return self._fail(problem)
        found = []
        for branch in sorted(self.branches.values(), key=lambda row: row["name"]):
            if branch["repo_id"] == repo_id and self._contains(branch["name"], name):
                run = self._newest_pipeline(branch)
                found.append(
                    {
                        "branch_id": branch["branch_id"],
                        "name": branch["name"],
                        "revision": branch["revision"],
                        "behind": branch["behind"],
                        "protected": self._protection(repo_id, branch["name"]) is not None,
                        "newest_pipeline": run["status"] if run else None,
                    }
                )
        return {"success": True, "data": found}

    def search_pull_requests(
        self,
        repo_id: Optional[str] = None,
        title: Optional[str] = None,
        author: Optional[str] = None,
        status: Optional[Literal["draft", "open", "merged", "closed"]] = None,
    ) -> dict:
        """
        Find pull requests; every filter that is given must match.

        Args:
            repo_id (str, optional): Repository id, e.g. "R-11".
            title (str, optional): Part of the title, any case.
            author (str, optional): Exact username of the author.
            status (str, optional): "draft", "open", "merged" or "closed".

        Returns:
            dict: {"success": True, "data": [PullRequestInfo, ...]}, the oldest first, or
            {"success": False, "error": str}.
        """
        if repo_id is not None and self._find(self.repositories, repo_id) is None:
            return self._unknown("repo_id", repo_id)
        if author is not None and self._find(self.users, author) is None:
            return self._unknown("author", author)
        problem = self._text_filter("title", title) or self._choice_filter("status", status, PULL_STATUSES)
        if problem:
            return self._fail(problem)
        found = [
            pull
            for pull in sorted(self.pull_requests.values(), key=lambda row: self._age(row["pull_id"]))
            if repo_id in (None, pull["repo_id"])
            and self._contains(pull["title"], title)
            and author in (None, pull["author"])
            and status in (None, pull["status"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def get_pull_request(self, pull_id: str) -> dict:
        """
        Show a pull request with its reviews, the pipelines of its source branch, and what keeps it from merging.

        Args:
            pull_id (str): Pull request id, e.g. "PR-204".

        Returns:
            dict: {"success": True, "data": {"pull_request": PullRequestInfo, "source_revision": int or None,
            "reviews": [ReviewInfo, ...], "pipelines": [PipelineInfo, ...], "blockers": [str, ...]}}, oldest first;
            an empty "blockers" list means that the rules let it be merged, or {"success": False, "error": str}.
        """
        pull = self._find(self.pull_requests, pull_id)
        if pull is None:
            return self._unknown("pull_id", pull_id)
        source = self._branch(pull["repo_id"], pull["source_branch"])
        reviews = [review for review in self.reviews.values() if review["pull_id"] == pull_id]
        runs = [
            run
            for run in self.pipelines.values()
            if (run["repo_id"], run["branch"]) == (pull["repo_id"], pull["source_branch"])
        ]
        data = {
            "pull_request": pull,
            "source_revision": source["revision"] if source else None,
            "reviews": sorted(reviews, key=lambda row: self._age(row["review_id"])),
            "pipelines": sorted(runs, key=lambda row: self._age(row["pipeline_id"])),
            "blockers": self._blockers(pull),
        }
        return {"success": True, "data": copy.deepcopy(data)}

    def list_pipelines(
        self,
        repo_id: str,
        branch: Optional[str] = None,
        status: Optional[Literal["passed", "failed"]] = None,
    ) -> dict:
        """
        List the pipelines of a repository, the oldest first; every filter that is given must match.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            branch (str, optional): Exact name of a branch.
            status (str, optional): "passed" or "failed".

        Returns:
            dict: {"success": True, "data": [PipelineInfo, ...]}, or {"success": False, "error": str}.
        """
        if self._find(self.repositories, repo_id) is None:
            return self._unknown("repo_id", repo_id)
        problem = self._text_filter("branch", branch) or self._choice_filter("status", status, ("passed", "failed"))
        if problem:
            return self._fail(problem)
        found = [
            run
            for run in sorted(self.pipelines.values(), key=lambda row: self._age(row["pipeline_id"]))
            if run["repo_id"] == repo_id and branch in (None, run["branch"]) and status in (None, run["status"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    def search_issues(
        self,
        repo_id: Optional[str] = None,
        title: Optional[str] = None,
        status: Optional[Literal["open", "closed"]] = None,
        label: Optional[str] = None,
        assignee: Optional[str] = None,
        milestone_id: Optional[str] = None,
    ) -> dict:
        """
        Find issues; every filter that is given must match.

        Args:
            repo_id (str, optional): Repository id, e.g. "R-11".
            title (str, optional): Part of the title, any case.
            status (str, optional): "open" or "closed".
            label (str, optional): A label that the issue carries.
            assignee (str, optional): Exact username of the assignee.
            milestone_id (str, optional): Milestone id, e.g. "M-3".

        Returns:
            dict: {"success": True, "data": [IssueInfo, ...]}, the oldest first, or {"success": False, "error": str}.
        """
        if repo_id is not None and self._find(self.repositories, repo_id) is None:
            return self._unknown("repo_id", repo_id)
        if assignee is not None and self._find(self.users, assignee) is None:
            return self._unknown("assignee", assignee)
        if milestone_id is not None and self._find(self.milestones, milestone_id) is None:
            return self._unknown("milestone_id", milestone_id)
        problem = (
            self._text_filter("title", title)
            or self._choice_filter("status", status, ("open", "closed"))
            or self._choice_filter("label", label, self.labels)
        )
        if problem:
            return self._fail(problem)
        found = [
            issue
            for issue in sorted(self.issues.values(), key=lambda row: self._age(row["issue_id"]))
            if repo_id in (None, issue["repo_id"])
            and self._contains(issue["title"], title)
            and status in (None, issue["status"])
            and (label is None or label in issue["labels"])
            and assignee in (None, issue["assignee"])
            and milestone_id in (None, issue["milestone_id"])
        ]
        return {"success": True, "data": copy.deepcopy(found)}

    # Changes: branches

    def create_branch(self, repo_id: str, name: str, from_branch: str) -> dict:
        """
        Create a branch at the present revision of another one. Needs write; a protected name needs maintain.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            name (str): New name: letters, digits, dots, dashes, underscores and slashes; unique in the repository.
            from_branch (str): Exact name of the branch to start from.

        Returns:
            dict: {"success": True, "message": str, "branch_id": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,79}", name):
            return self._fail("name must consist of letters, digits, dots, dashes, underscores and slashes.")
        origin = self._branch(repo_id, from_branch)
        if origin is None:
            return self._fail(f"There is no branch of that name in {repo['name']} to start from.")
        if self._branch(repo_id, name) is not None:
            return self._fail(f"Branch {name} already exists in {repo['name']}.")
        problem = self._refused(repo, "maintain" if self._protection(repo_id, name) else "write")
        if problem:
            return self._fail(problem)
        branch_id = f"B-{self.next_branch_number}"
        self.next_branch_number += 1
        self.branches[branch_id] = {
            "branch_id": branch_id,
            "repo_id": repo_id,
            "name": name,
            "revision": origin["revision"],
            "behind": origin["behind"],
            "broken_job": origin["broken_job"],
        }
        return {"success": True, "message": f"Created branch {name} from {from_branch}.", "branch_id": branch_id}

    def update_branch(self, branch_id: str) -> dict:
        """
        Bring a branch up to date with the default branch of its repository. Needs write.

        The branch gets a new revision: earlier approvals and pipelines no longer count for it. Protected branches
        change through pull requests only.

        Args:
            branch_id (str): Branch id, e.g. "B-52".

        Returns:
            dict: {"success": True, "message": str, "revision": int}, or {"success": False, "error": str}.
        """
        branch = self._find(self.branches, branch_id)
        if branch is None:
            return self._unknown("branch_id", branch_id)
        repo = self.repositories[branch["repo_id"]]
        problem = self._refused(repo, "write")
        if problem:
            return self._fail(problem)
        if branch["name"] == repo["default_branch"] or self._protection(repo["repo_id"], branch["name"]):
            return self._fail(f"Branch {branch['name']} changes through pull requests only.")
        if not branch["behind"]:
            return self._fail(f"Branch {branch['name']} is up to date.")
        branch["behind"] = 0
        branch["revision"] += 1
        return {
            "success": True,
            "message": f"Branch {branch['name']} is up to date, now at revision {branch['revision']}.",
            "revision": branch["revision"],
        }

    def delete_branch(self, branch_id: str) -> dict:
        """
        Delete a branch. Needs write; neither the default branch nor a protected one nor one with open or draft pull
        requests from or into it can be deleted.

        Args:
            branch_id (str): Branch id, e.g. "B-52".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        branch = self._find(self.branches, branch_id)
        if branch is None:
            return self._unknown("branch_id", branch_id)
        repo = self.repositories[branch["repo_id"]]
        problem = self._refused(repo, "write")
        if problem:
            return self._fail(problem)
        if branch["name"] == repo["default_branch"] or self._protection(repo["repo_id"], branch["name"]):
            return self._fail(f"Branch {branch['name']} is the default branch or protected and stays.")
        for pull in self.pull_requests.values():
            if (
                pull["repo_id"] == repo["repo_id"]
                and pull["status"] in ("draft", "open")
                and branch["name"] in (pull["source_branch"], pull["target_branch"])
            ):
                return self._fail(f"Branch {branch['name']} is in use by {pull['status']} {pull['pull_id']}.")
        del self.branches[branch_id]
        return {"success": True, "message": f"Deleted branch {branch['name']} of {repo['name']}."}

    def run_pipeline(self, branch_id: str) -> dict:
        """
        Test the present revision of a branch and wait for the result. Needs write.

        Refused when the newest pipeline on this revision has passed. A failure that lay in the runner goes away when
        the pipeline is run again; one that lies in the code does not.

        Args:
            branch_id (str): Branch id, e.g. "B-52".

        Returns:
            dict: {"success": True, "message": str, "pipeline_id": str, "status": "passed" or "failed",
            "failed_job": str or None}, or {"success": False, "error": str}.
        """
        branch = self._find(self.branches, branch_id)
        if branch is None:
            return self._unknown("branch_id", branch_id)
        repo = self.repositories[branch["repo_id"]]
        problem = self._refused(repo, "write")
        if problem:
            return self._fail(problem)
        newest = self._newest_pipeline(branch)
        if newest is not None and newest["status"] == "passed":
            return self._fail(f"Pipeline {newest['pipeline_id']} has already passed at revision {branch['revision']}.")
        pipeline_id = f"PL-{self.next_pipeline_number}"
        self.next_pipeline_number += 1
        status = "failed" if branch["broken_job"] else "passed"
        self.pipelines[pipeline_id] = {
            "pipeline_id": pipeline_id,
            "repo_id": repo["repo_id"],
            "branch": branch["name"],
            "revision": branch["revision"],
            "status": status,
            "failed_job": branch["broken_job"],
            "started_by": self.signed_in,
            "run_on": self.current_date,
        }
        return {
            "success": True,
            "message": f"Pipeline {pipeline_id} on {branch['name']} {status}.",
            "pipeline_id": pipeline_id,
            "status": status,
            "failed_job": branch["broken_job"],
        }

    # Changes: pull requests

    def open_pull_request(
        self,
        repo_id: str,
        title: str,
        source_branch: str,
        target_branch: str,
        linked_issues: Optional[List[str]] = None,
        draft: bool = False,
    ) -> dict:
        """
        Open a pull request in the name of the person who is signed in. Needs write.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            title (str): Title.
            source_branch (str): Exact name of the branch with the changes; not the default branch.
            target_branch (str): Exact name of the branch to merge into.
            linked_issues (list of str, optional): Ids of open issues of the repository that the merge closes.
            draft (bool, optional): True for a draft, which cannot be reviewed or merged yet.

        Returns:
            dict: {"success": True, "message": str, "pull_id": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        problem = self._refused(repo, "write")
        if problem:
            return self._fail(problem)
        if not self._filled(title):
            return self._fail("title must be a non-empty string.")
        if not isinstance(draft, bool):
            return self._fail("draft must be true or false.")
        for name in (source_branch, target_branch):
            if self._branch(repo_id, name) is None:
                return self._fail(f"source_branch and target_branch must be branches of {repo['name']}.")
        if source_branch == target_branch or source_branch == repo["default_branch"]:
            return self._fail("The source branch must differ from the target and from the default branch.")
        issues = [] if linked_issues is None else linked_issues
        if not isinstance(issues, list):
            return self._fail("linked_issues must be a list of issue ids.")
        for issue_id in issues:
            issue = self._find(self.issues, issue_id)
            if issue is None or issue["repo_id"] != repo_id or issue["status"] != "open":
                return self._fail(f"linked_issues must be ids of open issues of {repo['name']}.")
        same = self._same_pull(repo_id, source_branch, target_branch)
        if same is not None:
            return self._fail(f"{same['pull_id']} already asks for this merge; its status is '{same['status']}'.")
        pull_id = f"PR-{self.next_pull_number}"
        self.next_pull_number += 1
        self.pull_requests[pull_id] = {
            "pull_id": pull_id,
            "repo_id": repo_id,
            "title": title.strip(),
            "author": self.signed_in,
            "source_branch": source_branch,
            "target_branch": target_branch,
            "status": "draft" if draft else "open",
            "reviewers": [],
            "linked_issues": sorted(set(issues)),
            "opened_on": self.current_date,
            "merged_on": None,
            "merged_by": None,
            "merge_method": None,
        }
        return {"success": True, "message": f"Opened {pull_id} in {repo['name']}.", "pull_id": pull_id}

    def update_pull_request(
        self,
        pull_id: str,
        status: Optional[Literal["open", "closed"]] = None,
        add_reviewers: Optional[List[str]] = None,
    ) -> dict:
        """
        Close a pull request, mark a draft as ready or open a closed one again, or ask people for a review.

        Its author may do so, everybody else needs triage. A merged pull request stays as it is. Reviewers are active,
        have a role in the repository, and are not the author.

        Args:
            pull_id (str): Pull request id, e.g. "PR-204".
            status (str, optional): "open" (from draft or closed) or "closed" (from draft or open).
            add_reviewers (list of str, optional): Usernames to ask for a review, besides those already asked.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        pull = self._find(self.pull_requests, pull_id)
        if pull is None:
            return self._unknown("pull_id", pull_id)
        repo = self.repositories[pull["repo_id"]]
        problem = self._refused(repo, "read" if pull["author"] == self.signed_in else "triage")
        problem = problem or self._choice_filter("status", status, ("open", "closed"))
        if problem:
            return self._fail(problem)
        if pull["status"] == "merged":
            return self._fail(f"{pull_id} is merged.")
        people = [] if add_reviewers is None else add_reviewers
        if not isinstance(people, list) or (status is None and not people):
            return self._fail("Give a status, a list add_reviewers, or both.")
        for person in people:
            problem = self._assignable(repo, person)
            if problem:
                return self._fail(problem)
            if person == pull["author"]:
                return self._fail(f"{person} is the author of {pull_id}.")
            if person in pull["reviewers"] or people.count(person) > 1:
                return self._fail(f"{person} is already asked to review {pull_id}.")
        if status is not None and status == pull["status"]:
            return self._fail(f"{pull_id} is already {status}.")
        if status == "open" and pull["status"] == "closed":
            for name in (pull["source_branch"], pull["target_branch"]):
                if self._branch(repo["repo_id"], name) is None:
                    return self._fail(f"Branch {name} is gone.")
            same = self._same_pull(repo["repo_id"], pull["source_branch"], pull["target_branch"], besides=pull_id)
            if same is not None:
                return self._fail(f"{same['pull_id']} already asks for this merge.")
        if status is not None:
            pull["status"] = status
        pull["reviewers"] = sorted([*pull["reviewers"], *people])
        asked = f" Asked {', '.join(people)} for a review." if people else ""
        return {"success": True, "message": f"{pull_id} is {pull['status']}.{asked}"}

    def submit_review(
        self, pull_id: str, verdict: Literal["approved", "changes_requested", "commented"], body: str = ""
    ) -> dict:
        """
        Review the present revision of an open pull request in the name of the person who is signed in.

        A comment needs read, a verdict needs write, and nobody gives a verdict on a pull request of their own.

        Args:
            pull_id (str): Pull request id, e.g. "PR-204".
            verdict (str): "approved", "changes_requested" or "commented".
            body (str, optional): Text of the review; needed unless the verdict is "approved".

        Returns:
            dict: {"success": True, "message": str, "review_id": str}, or {"success": False, "error": str}.
        """
        pull = self._find(self.pull_requests, pull_id)
        if pull is None:
            return self._unknown("pull_id", pull_id)
        if not isinstance(verdict, str) or verdict not in VERDICTS:
            return self._fail(f"verdict must be one of: {', '.join(VERDICTS)}.")
        repo = self.repositories[pull["repo_id"]]
        problem = self._refused(repo, "read" if verdict == "commented" else "write") or self._text_filter("body", body)
        if problem:
            return self._fail(problem)
        text = "" if body is None else body.strip()
        if verdict != "approved" and not text:
            return self._fail(f"A review with the verdict '{verdict}' needs a body.")
        source = self._branch(pull["repo_id"], pull["source_branch"])
        if pull["status"] != "open" or source is None:
            return self._fail(f"{pull_id} is not open for review; its status is '{pull['status']}'.")
        if pull["author"] == self.signed_in and verdict != "commented":
            return self._fail(f"{pull_id} is your own; another person must review it.")
        review_id = f"RV-{self.next_review_number}"
        self.next_review_number += 1
        self.reviews[review_id] = {
            "review_id": review_id,
            "pull_id": pull_id,
            "reviewer": self.signed_in,
            "verdict": verdict,
            "body": text,
            "revision": source["revision"],
            "submitted_on": self.current_date,
            "dismissed_reason": None,
        }
        return {"success": True, "message": f"Review {review_id} of {pull_id}: {verdict}.", "review_id": review_id}

    def dismiss_review(self, review_id: str, reason: str) -> dict:
        """
        Dismiss a review of an open pull request, so that its verdict no longer counts. Needs maintain.

        Allowed only once the source branch has moved on from the reviewed revision, or when the reviewer's account is
        deactivated.

        Args:
            review_id (str): Review id, e.g. "RV-71". Its verdict is "approved" or "changes_requested".
            reason (str): Why; must not be empty.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        review = self._find(self.reviews, review_id)
        if review is None:
            return self._unknown("review_id", review_id)
        pull = self.pull_requests[review["pull_id"]]
        repo = self.repositories[pull["repo_id"]]
        problem = self._refused(repo, "maintain")
        if problem:
            return self._fail(problem)
        if not self._filled(reason):
            return self._fail("reason must say why the review is dismissed.")
        if pull["status"] != "open" or review["verdict"] == "commented" or review["dismissed_reason"] is not None:
            return self._fail(f"Review {review_id} has no verdict that counts on an open pull request.")
        source = self._branch(repo["repo_id"], pull["source_branch"])
        moved_on = source is not None and source["revision"] > review["revision"]
        if not moved_on and self.users[review["reviewer"]]["status"] == "active":
            return self._fail(f"{review['reviewer']} is active and has reviewed the present revision.")
        review["dismissed_reason"] = reason.strip()
        return {"success": True, "message": f"Dismissed review {review_id} of {pull['pull_id']}."}

    def merge_pull_request(
        self, pull_id: str, method: Literal["merge", "squash", "rebase"], delete_source_branch: bool = False
    ) -> dict:
        """
        Merge an open pull request. Needs maintain if the target branch is protected, else write.

        A protected target takes it only when get_pull_request shows no blockers. The target gets a new revision,
        linked open issues are closed, and a merge into the default branch puts every other branch one commit further
        behind.

        Args:
            pull_id (str): Pull request id, e.g. "PR-204".
            method (str): "merge", "squash" or "rebase"; one that the repository allows.
            delete_source_branch (bool, optional): True to delete the source branch as well, unless it is protected or
                in use by another pull request.

        Returns:
            dict: {"success": True, "message": str, "closed_issues": [str, ...]}, or {"success": False, "error": str}.
        """
        pull = self._find(self.pull_requests, pull_id)
        if pull is None:
            return self._unknown("pull_id", pull_id)
        repo = self.repositories[pull["repo_id"]]
        rule = self._protection(repo["repo_id"], pull["target_branch"])
        problem = self._refused(repo, "maintain" if rule else "write")
        if problem:
            return self._fail(problem)
        if not isinstance(method, str) or method not in repo["merge_methods"]:
            return self._fail(f"{repo['name']} allows these merge methods only: {', '.join(repo['merge_methods'])}.")
        if not isinstance(delete_source_branch, bool):
            return self._fail("delete_source_branch must be true or false.")
        reasons = self._blockers(pull)
        if reasons:
            return self._fail(f"{pull_id} cannot be merged: {'; '.join(reasons)}.")
        source = self._branch(repo["repo_id"], pull["source_branch"])
        target = self._branch(repo["repo_id"], pull["target_branch"])
        if source is None or target is None:
            return self._fail(f"A branch of {pull_id} is gone.")
        if delete_source_branch:
            used = [
                other["pull_id"]
                for other in self.pull_requests.values()
                if other["repo_id"] == repo["repo_id"]
                and other["status"] in ("draft", "open")
                and other["pull_id"] != pull_id
                and source["name"] in (other["source_branch"], other["target_branch"])
            ]
            if used or self._protection(repo["repo_id"], source["name"]):
                return self._fail(f"Branch {source['name']} is protected or in use and cannot be deleted.")
        target["revision"] += 1
        target["broken_job"] = source["broken_job"]
        pull["status"] = "merged"
        pull["merged_on"] = self.current_date
        pull["merged_by"] = self.signed_in
        pull["merge_method"] = method
        if target["name"] == repo["default_branch"]:
            for branch in self.branches.values():
                if branch["repo_id"] == repo["repo_id"] and branch["name"] != target["name"]:
                    branch["behind"] += 1
        if delete_source_branch:
            del self.branches[source["branch_id"]]
        closed = []
        for issue_id in pull["linked_issues"]:
            issue = self.issues[issue_id]
            if issue["status"] == "open":
                issue["status"] = "closed"
                issue["closed_on"] = self.current_date
                issue["closed_by"] = pull_id
                closed.append(issue_id)
        return {
            "success": True,
            "message": f"Merged {pull_id} into {target['name']}, now at revision {target['revision']}.",
            "closed_issues": closed,
        }

    # Changes: issues, milestones, releases

    def create_issue(
        self,
        repo_id: str,
        title: str,
        labels: Optional[List[str]] = None,
        assignee: Optional[str] = None,
        milestone_id: Optional[str] = None,
    ) -> dict:
        """
        File an issue. Needs read; labels, an assignee or a milestone need triage.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            title (str): Title; no other open issue of the repository may have it.
            labels (list of str, optional): Labels out of the known ones.
            assignee (str, optional): Username of an active person with a role in the repository.
            milestone_id (str, optional): Id of an open milestone of the repository.

        Returns:
            dict: {"success": True, "message": str, "issue_id": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        marks = [] if labels is None else labels
        sorting = bool(marks) or assignee is not None or milestone_id is not None
        problem = self._refused(repo, "triage" if sorting else "read") or self._labels_problem(marks)
        if problem is None and assignee is not None:
            problem = self._assignable(repo, assignee)
        if problem is None and milestone_id is not None:
            problem = self._milestone_problem(repo, milestone_id)
        if problem is None and not self._filled(title):
            problem = "title must be a non-empty string."
        if problem:
            return self._fail(problem)
        for issue in self.issues.values():
            same = issue["title"].lower() == title.strip().lower()
            if same and issue["repo_id"] == repo_id and issue["status"] == "open":
                return self._fail(f"Open issue {issue['issue_id']} already has this title.")
        issue_id = f"I-{self.next_issue_number}"
        self.next_issue_number += 1
        self.issues[issue_id] = {
            "issue_id": issue_id,
            "repo_id": repo_id,
            "title": title.strip(),
            "labels": sorted(marks),
            "assignee": assignee,
            "milestone_id": milestone_id,
            "status": "open",
            "opened_on": self.current_date,
            "closed_on": None,
            "closed_by": None,
        }
        return {"success": True, "message": f"Filed {issue_id} in {repo['name']}.", "issue_id": issue_id}

    def update_issue(
        self,
        issue_id: str,
        status: Optional[Literal["open", "closed"]] = None,
        labels: Optional[List[str]] = None,
        assignee: Optional[str] = None,
        milestone_id: Optional[str] = None,
    ) -> dict:
        """
        Change an issue; what is left out stays as it is. Needs triage.

        Args:
            issue_id (str): Issue id, e.g. "I-310".
            status (str, optional): "open" to open it again, "closed" to close it by hand.
            labels (list of str, optional): All labels that the issue shall carry, in place of the present ones.
            assignee (str, optional): Username of an active person with a role in the repository; "" for nobody.
            milestone_id (str, optional): Id of an open milestone of the repository; "" for none.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        issue = self._find(self.issues, issue_id)
        if issue is None:
            return self._unknown("issue_id", issue_id)
        repo = self.repositories[issue["repo_id"]]
        problem = self._refused(repo, "triage") or self._choice_filter("status", status, ("open", "closed"))
        if problem is None and labels is not None:
            problem = self._labels_problem(labels)
        if problem is None and assignee is not None and assignee != "":
            problem = self._assignable(repo, assignee)
        if problem is None and milestone_id is not None and milestone_id != "":
            problem = self._milestone_problem(repo, milestone_id)
        if problem is None and status is None and labels is None and assignee is None and milestone_id is None:
            problem = "Give at least one of status, labels, assignee and milestone_id."
        if problem is None and status == issue["status"]:
            problem = f"Issue {issue_id} is already {status}."
        if problem:
            return self._fail(problem)
        if status is not None:
            issue["status"] = status
            issue["closed_on"] = self.current_date if status == "closed" else None
            issue["closed_by"] = None
        if labels is not None:
            issue["labels"] = sorted(labels)
        if assignee is not None:
            issue["assignee"] = assignee or None
        if milestone_id is not None:
            issue["milestone_id"] = milestone_id or None
        return {"success": True, "message": f"Updated issue {issue_id} '{issue['title']}'."}

    def close_milestone(self, milestone_id: str) -> dict:
        """
        Close a milestone. Needs maintain; every issue in it must be closed or moved away first.

        Args:
            milestone_id (str): Milestone id, e.g. "M-3".

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        milestone = self._find(self.milestones, milestone_id)
        if milestone is None:
            return self._unknown("milestone_id", milestone_id)
        problem = self._refused(self.repositories[milestone["repo_id"]], "maintain")
        if problem:
            return self._fail(problem)
        if milestone["status"] == "closed":
            return self._fail(f"Milestone '{milestone['title']}' is already closed.")
        left = [
            key
            for key, issue in sorted(self.issues.items())
            if issue["milestone_id"] == milestone_id and issue["status"] == "open"
        ]
        if left:
            return self._fail(f"Milestone '{milestone['title']}' still has open issues: {', '.join(left)}.")
        milestone["status"] = "closed"
        return {"success": True, "message": f"Closed milestone '{milestone['title']}'."}

    def publish_release(self, repo_id: str, tag: str, branch: str, notes: str) -> dict:
        """
        Publish the present revision of a branch as a release. Needs maintain.

        The branch is the default branch or named release/X.Y, and its newest pipeline passed at the present revision.
        From the default branch the tag must be higher than all earlier tags of the repository, from release/X.Y it must
        be vX.Y.Z and higher than the earlier tags of that X.Y. No open issue may be labelled release-blocker.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            tag (str): vMAJOR.MINOR.PATCH, e.g. "v2.4.1".
            branch (str): Exact name of the branch.
            notes (str): Release notes; must not be empty.

        Returns:
            dict: {"success": True, "message": str, "release_id": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        version = self._version(tag)
        found = self._branch(repo_id, branch)
        problem = self._refused(repo, "maintain")
        if problem is None and version is None:
            problem = "tag must have the form vMAJOR.MINOR.PATCH."
        if problem is None and found is None:
            problem = f"branch must be the name of a branch of {repo['name']}."
        if problem is None and not self._filled(notes):
            problem = "notes must be a non-empty string."
        if problem or version is None or found is None:
            return self._fail(str(problem))
        earlier = [
            self._version(row["tag"]) or (0, 0, 0) for row in self.releases.values() if row["repo_id"] == repo_id
        ]
        if branch != repo["default_branch"]:
            if branch != f"release/{version[0]}.{version[1]}":
                return self._fail(
                    f"{tag} can be released from {repo['default_branch']} or its release/X.Y branch only."
                )
            earlier = [other for other in earlier if other[:2] == version[:2]]
        if earlier and version <= max(earlier):
            highest = ".".join(str(part) for part in max(earlier))
            return self._fail(f"{tag} is not higher than the earlier release v{highest}.")
        problem = self._tested(found)
        if problem:
            return self._fail(f"{branch} cannot be released: {problem}.")
        blocking = [
            key
            for key, issue in sorted(self.issues.items())
            if issue["repo_id"] == repo_id and issue["status"] == "open" and BLOCKER_LABEL in issue["labels"]
        ]
        if blocking:
            return self._fail(f"Open issues labelled {BLOCKER_LABEL} block the release: {', '.join(blocking)}.")
        release_id = f"REL-{self.next_release_number}"
        self.next_release_number += 1
        self.releases[release_id] = {
            "release_id": release_id,
            "repo_id": repo_id,
            "tag": tag,
            "branch": branch,
            "revision": found["revision"],
            "notes": notes.strip(),
            "published_on": self.current_date,
            "published_by": self.signed_in,
        }
        return {"success": True, "message": f"Published {tag} of {repo['name']}.", "release_id": release_id}

    # Changes: administration

    def set_role(
        self, repo_id: str, username: str, role: Literal["none", "read", "triage", "write", "maintain", "admin"]
    ) -> dict:
        """
        Give somebody a role in a repository, change it, or take it away. Needs admin.

        Nobody changes their own role, so an admin always stays, and a deactivated account is given none.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            username (str): Exact username.
            role (str): "read", "triage", "write", "maintain", "admin", or "none" to take the role away.

        Returns:
            dict: {"success": True, "message": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        user = self._find(self.users, username)
        if user is None:
            return self._unknown("username", username)
        problem = self._refused(repo, "admin")
        if problem:
            return self._fail(problem)
        if not isinstance(role, str) or role not in ("none", *ROLES):
            return self._fail(f"role must be one of: none, {', '.join(ROLES)}.")
        if username == self.signed_in:
            return self._fail("Nobody changes their own role.")
        held = repo["roles"].get(username, "none")
        if held == role:
            return self._fail(f"{user['name']} already has the role '{role}' in {repo['name']}.")
        if role == "none":
            del repo["roles"][username]
        elif user["status"] != "active":
            return self._fail(f"The account of {user['name']} is deactivated.")
        else:
            repo["roles"][username] = role
        return {
            "success": True,
            "message": f"{user['name']} has the role '{role}' in {repo['name']}; before: '{held}'.",
        }

    def set_protection(
        self,
        repo_id: str,
        pattern: str,
        required_approvals: Optional[int] = None,
        owner_team: Optional[str] = None,
        require_pipeline: Optional[bool] = None,
        require_up_to_date: Optional[bool] = None,
    ) -> dict:
        """
        Protect branches of a repository, or change the rule that has this very pattern. Needs admin.

        What is left out stays as it is; a new rule starts with 1 approval, no owner team, a pipeline, and no need to be
        up to date.

        Args:
            repo_id (str): Repository id, e.g. "R-11".
            pattern (str): A branch name, or a prefix followed by a star, e.g. "release/*".
            required_approvals (int, optional): 0 to 5.
            owner_team (str, optional): Team that must give one of the approvals; "" for none.
            require_pipeline (bool, optional): Whether the newest pipeline on the source branch must have passed.
            require_up_to_date (bool, optional): Whether the source branch must not be behind the default branch.

        Returns:
            dict: {"success": True, "message": str, "rule_id": str}, or {"success": False, "error": str}.
        """
        repo = self._find(self.repositories, repo_id)
        if repo is None:
            return self._unknown("repo_id", repo_id)
        problem = self._refused(repo, "admin")
        if problem:
            return self._fail(problem)
        if not isinstance(pattern, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,79}\*?", pattern):
            return self._fail("pattern must be a branch name, or a prefix followed by a star.")
        if required_approvals is not None and (
            isinstance(required_approvals, bool)
            or not isinstance(required_approvals, int)
            or not 0 <= required_approvals <= MAX_APPROVALS
        ):
            return self._fail(f"required_approvals must be a whole number from 0 to {MAX_APPROVALS}.")
        teams = sorted({user["team"] for user in self.users.values()})
        problem = self._choice_filter("owner_team", owner_team, ("", *teams))
        for name, flag in (("require_pipeline", require_pipeline), ("require_up_to_date", require_up_to_date)):
            if problem is None and flag is not None and not isinstance(flag, bool):
                problem = f"{name} must be true or false."
        if problem:
            return self._fail(problem)
        rule = next(
            (row for row in self.protection_rules.values() if row["repo_id"] == repo_id and row["pattern"] == pattern),
            None,
        )
        if rule is None:
            rule_id = f"BP-{self.next_rule_number}"
            self.next_rule_number += 1
            rule = {
                "rule_id": rule_id,
                "repo_id": repo_id,
                "pattern": pattern,
                "required_approvals": 1,
                "owner_team": None,
                "require_pipeline": True,
                "require_up_to_date": False,
            }
            self.protection_rules[rule_id] = rule
        if required_approvals is not None:
            rule["required_approvals"] = required_approvals
        if owner_team is not None:
            rule["owner_team"] = owner_team or None
        if require_pipeline is not None:
            rule["require_pipeline"] = require_pipeline
        if require_up_to_date is not None:
            rule["require_up_to_date"] = require_up_to_date
        return {
            "success": True,
            "message": f"Rule {rule['rule_id']} protects {pattern} in {repo['name']}.",
            "rule_id": rule["rule_id"],
        }
